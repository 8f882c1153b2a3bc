import { percentDecoded } from '../kit/address.ts';
import { ExitCode, isText, messageIn, TtsError } from '../kit/error.ts';
import type { RunContext } from '../kit/host.ts';
import { type Answer, HttpClient, plainBody } from '../kit/http/client.ts';
import {
  brokenAnswer,
  NO_CONTENT,
  noAnswer,
  PARTIAL_CONTENT,
  refusal,
  type ServiceName,
  statusIn,
} from '../kit/http/failures.ts';
import type { ClientEvent, NumberedText, RetryPolicy } from '../kit/retry.ts';
import { delayTierUp } from '../kit/tier-up.ts';
import { singleItem } from '../kit/wait.ts';
import type { Speech } from '../sound/pcm.ts';
import { QUOTED_BYTES, readWav, WavError } from '../sound/wav.ts';
import { type Synthesize, speakWithTries, type Trying } from './resilient.ts';
import type { Endpoint } from './service-choice.ts';
import type { ServiceSpeaker } from './speakers.ts';
import { type Client, type ClientOptions, type RequestFields, requestBody } from './voice.ts';

export interface Expectation extends ServiceName {
  readonly timeoutMs: number;
  /** True if the sound goes to a callback address: a 2xx without audio is then a success. */
  readonly hasCallback: boolean;
  readonly onLeftover?: ((bytes: number) => void) | undefined;
}

/** A service that has accepted a request works on after a torn answer (RFC 9110, section 15.3.3). */
const ACCEPTED = 202;

/**
 * It ignores the `Content-Type`. Errors of reading are for {@link audioFailure}.
 * @returns `undefined` for sound that goes to the callback address
 * @throws TtsError
 */
export async function readAnswer(answer: Answer, expected: Expectation): Promise<Speech | undefined> {
  const body = plainBody(answer);
  const { hasCallback, onLeftover } = expected;
  if (!isSuccess(answer.status, hasCallback)) throw await refusal({ ...answer, body }, expected);
  try {
    // With a callback address, the body may be anything.
    const quotedBytes = hasCallback ? SIGNATURE_BYTES : undefined;
    return await readWav(body, { bodyBytes: bodyBytes(answer), quotedBytes, onLeftover });
  } catch (error) {
    if (hasCallback && (isNoAudio(error) || (answer.status === ACCEPTED && isCutOff(error))))
      return undefined;
    const head = error instanceof WavError && error.problem === 'not-wav' ? error.head : undefined;
    const meant = head && statusIn(head);
    if (meant) throw await refusal({ ...answer, body: singleItem(head) }, expected, meant);
    throw audioFailure(error, expected, answer.headers['content-type']);
  }
}

function isSuccess(status: number, hasCallback: boolean): boolean {
  if (status === NO_CONTENT) return hasCallback;
  return status >= 200 && status <= 299 && status !== PARTIAL_CONTENT;
}

function bodyBytes({ headers }: Answer): number | undefined {
  const length = headers['content-length'];
  return length === undefined || headers['content-encoding'] !== undefined ? undefined : Number(length);
}

function isNoAudio(error: unknown): boolean {
  if (!(error instanceof WavError) || error.head === undefined) return false;
  return error.head.length === 0 || (error.problem === 'not-wav' && otherKind(error.head) === undefined);
}

function isCutOff(error: unknown): boolean {
  return !(error instanceof WavError || error instanceof TtsError);
}

export function audioFailure(
  error: unknown,
  { url, timeoutMs }: Pick<Expectation, 'url' | 'timeoutMs'>,
  contentType?: string,
): TtsError {
  if (!(error instanceof WavError)) return brokenAnswer(error, url, timeoutMs);
  return new TtsError(`${url.host} sent no audio that can be used: ${problemText(error, contentType)}`, {
    exitCode: ExitCode.service,
    hint: hints[error.problem],
    cause: error,
    ...(error.problem === 'incomplete' && { retry: {} }),
  });
}

const hints: Record<WavError['problem'], string> = {
  'not-wav': 'check the base URL: a WAV is expected there',
  incomplete: 'try again; if this keeps happening, the service makes answers that are too short',
  unsupported: 'only PCM with 8 to 32 bits and 32-bit floats are read',
  'format-changed': 'ask for one sample rate with --sample-rate',
};

const SIGNATURES: readonly (readonly [RegExp, string])[] = [
  [/^494433|^ff[ef][2-9a-e]/, 'MP3'],
  [/^4f676753/, 'Ogg'],
  [/^664c6143/, 'FLAC'],
  [/^.{8}66747970/, 'MP4'],
  [/^1f8b/, 'gzip data'],
];

const SIGNATURE_BYTES = 8;

function otherKind(head: Uint8Array): string | undefined {
  const begin = Buffer.from(head.subarray(0, SIGNATURE_BYTES)).toString('hex');
  return SIGNATURES.find(([signature]) => signature.test(begin))?.[1];
}

function problemText({ problem, message, head }: WavError, contentType: string | undefined): string {
  if (problem !== 'not-wav' || !head) return message;
  const kind = otherKind(head);
  if (kind) return `${kind} instead of a WAV`;
  if (!isText(head)) return `it begins with the bytes ${Buffer.from(head.subarray(0, 16)).toString('hex')}`;
  return `it says: ${messageIn(head, { isCut: head.length === QUOTED_BYTES, contentType }) || 'nothing but blanks'}`;
}

interface RequestOptions {
  readonly http: HttpClient;
  /** The address of the requests. It ends in `/tts`. */
  readonly url: URL;
  readonly key: string;
  /** Where the key was set, for messages: `TTS_API_KEY`. */
  readonly keyOrigin: string;
  readonly fields: RequestFields;
  readonly timeoutMs: number;
  readonly onEvent: (event: ClientEvent) => void;
}

/**
 * Sends `POST /tts`, again where that may help.
 * @throws TtsError after all tries, here and while the sound is read
 */
export function createSynthesizer(
  options: RequestOptions & Omit<Trying, 'name' | 'ask' | 'explain'>,
): Synthesize {
  const trying: Trying = {
    ...options,
    name: options.url.host,
    ask: (text, until) => request(text, options, until),
    explain: (error) => audioFailure(error, options),
  };
  return (text, signal) => speakWithTries(text, trying, signal);
}

/**
 * Sends one `POST /tts`.
 * @returns `undefined` for sound that goes to the callback address
 * @throws TtsError; errors of reading the sound are for `audioFailure`
 */
async function request(
  { text, index }: NumberedText,
  options: RequestOptions,
  signal: AbortSignal,
): Promise<Speech | undefined> {
  const { http, url, key, timeoutMs, fields, onEvent } = options;
  const begun = Date.now();
  const headers = { 'X-API-KEY': key, 'Content-Type': 'application/json' };
  const body = requestBody(text, fields);
  onEvent({ type: 'request', index, text, post: { url, body } });
  const answer = await http.send({ method: 'POST', url, headers, body }, signal).catch((cause) => {
    throw noAnswer(cause, url, timeoutMs);
  });
  onEvent({ type: 'answer', index, status: answer.status, milliseconds: Date.now() - begun });
  const ignored = answer.headers['x-instructions-ignored'];
  if (ignored) onEvent({ type: 'ignored', instructions: percentDecoded(ignored) });
  const hasCallback = fields.callbackUrl !== undefined;
  const onLeftover = (bytes: number) => onEvent({ type: 'leftover', bytes });
  return await readAnswer(answer, { ...options, hasCallback, onLeftover });
}

/** All requests to a service share its connections. */
export async function openService(endpoint: Endpoint, options: ClientOptions): Promise<Client> {
  const { timeoutMs, atOnce, runtime } = options;
  await delayParser(endpoint, runtime);
  const http = new HttpClient({ connections: atOnce, timeoutMs, proxyFor: () => endpoint.proxy });
  const shared = { ...endpoint, ...options, http };
  return {
    speak: (text, fields, signal) => createSynthesizer({ ...shared, fields })(text, signal),
    close: () => http[Symbol.asyncDispose](),
  };
}

/** @returns `undefined` for a service without a list */
export async function listService(
  listing: Endpoint & RetryPolicy & Pick<ClientOptions, 'timeoutMs'>,
  { host, signal }: Pick<RunContext, 'host' | 'signal'>,
): Promise<readonly ServiceSpeaker[] | undefined> {
  await delayParser(listing, host.runtime);
  const { listSpeakers } = await import('./speakers.ts');
  return listSpeakers(listing, signal);
}

/** undici compiles its parser with the first connection, so the modules that it needs for that are loaded before. */
async function delayParser({ url }: Endpoint, runtime: string): Promise<void> {
  if (url.protocol === 'https:') await import('node:tls');
  await delayTierUp(runtime);
}
