import { percentDecoded } from '../kit/address.ts';
import { ExitCode, TtsError } from '../kit/error.ts';
import { holdsEncodedSound, isText, messageIn } from '../kit/http/answer.ts';
import { type Answer, HttpClient } from '../kit/http/client.ts';
import {
  firstBytes,
  NO_CONTENT,
  PARTIAL_CONTENT,
  refusal,
  type ServiceName,
  statusIn,
} from '../kit/http/failures.ts';
import { type RetryPolicy, type RetryState, waitOrGiveUp } from '../kit/retry.ts';
import { mapErrors, singleItem } from '../kit/wait.ts';
import { printable } from '../kit/words.ts';
import { bodyOf } from '../options/values.ts';
import { counted, type Speech, secondsOf } from '../sound/pcm.ts';
import type { Utterance, VoiceSource } from '../sound/voice.ts';
import { QUOTED_BYTES, readWav, WavError } from '../sound/wav.ts';
import { countCodePoints, excerpt } from '../text/unicode.ts';
import type { Endpoint } from './service-choice.ts';

interface Expectation extends ServiceName {
  /** True if the sound goes to a callback address: a 2xx without audio is then a success. */
  readonly hasCallback: boolean;
  readonly onLeftover?: ((bytes: number) => void) | undefined;
}

/** The status of a request that a service completes even if its answer breaks off (RFC 9110, section 15.3.3). */
const ACCEPTED = 202;

/**
 * Reads an answer, whatever its `Content-Type`. Errors while its sound is read are for {@link audioFailure}.
 * @returns `undefined` for sound that goes to the callback address
 * @throws TtsError
 */
async function readAnswer(answer: Answer, expected: Expectation): Promise<Speech | undefined> {
  const { body } = answer;
  const { hasCallback, onLeftover } = expected;
  if (!isSuccess(answer.status, hasCallback)) throw await refusal(answer, expected);
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
  return error instanceof TtsError && error.retry !== undefined;
}

function audioFailure(error: unknown, { url }: Pick<Expectation, 'url'>, contentType?: string): TtsError {
  if (error instanceof TtsError) return error;
  if (!(error instanceof WavError)) throw error;
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
  if (holdsEncodedSound(head)) return 'sound as text within JSON instead of a WAV';
  if (!isText(head)) return `it begins with the bytes ${Buffer.from(head.subarray(0, 16)).toString('hex')}`;
  return `it says: ${messageIn(head, { isCut: head.length === QUOTED_BYTES, contentType }) || 'nothing but blanks'}`;
}

interface ServiceOptions {
  /** Called when a voice first speaks or is listed, so that nothing is looked for earlier. */
  readonly endpoint: () => Promise<Endpoint>;
  /** The base URL, whose host names the service in messages. */
  readonly base: URL;
  readonly atOnce: number;
  readonly timeoutMs: number;
  /** Version and architecture of Node, as in `Host.runtime`. */
  readonly runtime: string;
}

/** A service as a source. Each text is one `POST /tts`; all requests share its connections. */
export function serviceSource({ endpoint, base, atOnce, timeoutMs, runtime }: ServiceOptions): VoiceSource {
  let opened: Promise<{ readonly http: HttpClient; readonly service: Endpoint }> | undefined;
  const connect = async () => {
    const service = await endpoint();
    const http = new HttpClient({ connections: atOnce, timeoutMs, runtime, proxyFor: () => service.proxy });
    return { http, service };
  };
  const connected = () => {
    opened ??= connect();
    return opened;
  };
  return {
    kind: 'service',
    name: base.host,
    maxChars: Number.POSITIVE_INFINITY,
    atOnce,
    open: async () => void (await connected()),
    async speak(utterance, signal) {
      const { http, service } = await connected();
      try {
        const speech = await request(utterance, { http, ...service }, signal);
        return (
          speech && {
            ...speech,
            pcm: mapErrors(bounded(speech, utterance.text, base.host), (error) =>
              audioFailure(error, service),
            ),
          }
        );
      } catch (error) {
        throw audioFailure(error, service);
      }
    },
    has: () => false,
    async close() {
      // The text that opened the connection has reported its failure.
      const { http } = (await opened?.catch(() => undefined)) ?? {};
      await http?.[Symbol.asyncDispose]();
    },
  };
}

/** Seconds of the longest sound for any text, in addition to a second for each character: longer sound never ends. */
const MOST_SECONDS = 3 * 3600;

/** @throws TtsError (service) while the sound is read, if it never ends */
function bounded({ format, pcm }: Speech, text: string, host: string): AsyncIterable<Uint8Array> {
  const most = MOST_SECONDS + countCodePoints(text);
  let bytes = 0;
  return counted(pcm, (more) => {
    bytes += more;
    if (secondsOf(format, bytes) <= most) return;
    throw new TtsError(`${host} sent more than three hours of sound for "${excerpt(text)}"`, {
      exitCode: ExitCode.service,
      hint: 'the service seems to send sound without an end; try again, or choose another voice',
      // Another try would have to go on behind all of this sound.
      isOutage: true,
    });
  });
}

/**
 * Sends one `POST /tts`.
 * @returns `undefined` for sound that goes to the callback address
 * @throws TtsError; errors while the sound is read are for `audioFailure`
 */
async function request(
  { text, index, voice, fields, report }: Utterance,
  { http, ...service }: Endpoint & { readonly http: HttpClient },
  signal: AbortSignal,
): Promise<Speech | undefined> {
  const { url, key } = service;
  const begun = Date.now();
  const headers = { 'X-API-KEY': key, 'Content-Type': 'application/json' };
  const body = requestBody(text, { voice, fields });
  report({ type: 'request', index, text, post: { url, body } });
  const answer = await http.send({ method: 'POST', url, headers, body }, signal);
  report({ type: 'answer', index, status: answer.status, milliseconds: Date.now() - begun });
  const ignored = answer.headers['x-instructions-ignored'];
  if (ignored) report({ type: 'ignored', instructions: percentDecoded(ignored) });
  const hasCallback = fields.callbackUrl !== undefined;
  const onLeftover = (bytes: number) => report({ type: 'leftover', bytes });
  return await readAnswer(answer, { ...service, hasCallback, onLeftover });
}

/** Returns the body of `POST /tts`. Unset fields are not sent. */
export function requestBody(text: string, { voice, fields }: Pick<Utterance, 'voice' | 'fields'>): string {
  return bodyOf(text, { ...fields, speaker: voice.no });
}

/** A voice as a service lists it. */
export interface ServiceVoice {
  readonly no: number;
  readonly name?: string | undefined;
  readonly kind?: string | undefined;
  readonly language?: string | undefined;
  /** Hz. */
  readonly sampleRate?: number | undefined;
}

interface Listing extends RetryPolicy {
  readonly timeoutMs: number;
  readonly runtime: string;
}

/** The statuses with which services without a list answer. */
const NO_LIST = new Set([301, 302, 307, 308, 400, 404, 405, 406, 410, 501]);

/** Most MiB of a list of speakers. Ten thousand speakers take less. */
const MOST_MIB = 4;
const MOST_BYTES = MOST_MIB * 2 ** 20;

/**
 * Sends `GET {base}/speakers`.
 * @returns `undefined` for a service without a list
 * @throws TtsError
 */
export async function listService(
  service: Endpoint,
  listing: Listing,
  signal: AbortSignal,
): Promise<ServiceVoice[] | undefined> {
  const url = new URL(service.url);
  url.pathname = url.pathname.replace(/\/tts$/, '/speakers');
  const { timeoutMs, runtime } = listing;
  await using http = new HttpClient({ connections: 1, timeoutMs, runtime, proxyFor: () => service.proxy });
  for (const state: RetryState = { made: 0 }; ; ) {
    const done = new AbortController();
    try {
      const until = AbortSignal.any([signal, done.signal]);
      return await fetchOnce(http, { ...service, url }, until);
    } catch (error) {
      await waitOrGiveUp(error, listing, state, signal);
    } finally {
      done.abort();
    }
  }
}

async function fetchOnce(
  http: HttpClient,
  service: Endpoint,
  signal: AbortSignal,
): Promise<ServiceVoice[] | undefined> {
  const { url, key } = service;
  const headers = { 'X-API-KEY': key };
  const answer = await http.send({ method: 'GET', url, headers }, signal);
  if (NO_LIST.has(answer.status)) return undefined;
  if (answer.status !== 200) throw await refusal(answer, service);
  const { bytes, isWhole } = await firstBytes(answer.body, MOST_BYTES);
  signal.throwIfAborted();
  if (bytes.length === MOST_BYTES)
    throw new TtsError(`the list of speakers of ${url.host} has ${MOST_MIB} MiB or more`, {
      exitCode: ExitCode.service,
      hint: 'name speakers by their numbers',
    });
  if (!isWhole)
    throw new TtsError(`the list of speakers of ${url.host} broke off`, {
      exitCode: ExitCode.service,
      hint: 'try again; if this keeps happening, name speakers by their numbers',
      retry: {},
    });
  return voicesIn(Buffer.from(bytes).toString());
}

function voicesIn(body: string): ServiceVoice[] | undefined {
  const list = listIn(body);
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((entry) => {
    const { speaker_no, name, kind, language, sample_rate } = Object(entry);
    if (!Number.isSafeInteger(speaker_no)) return [];
    return {
      no: speaker_no,
      name: textOf(name),
      kind: textOf(kind),
      language: textOf(language),
      sampleRate: typeof sample_rate === 'number' ? sample_rate : undefined,
    };
  });
}

function listIn(body: string): unknown {
  try {
    return JSON.parse(body)?.speakers;
  } catch {
    return undefined;
  }
}

function textOf(said: unknown): string | undefined {
  return typeof said === 'string' ? printable(said) : undefined;
}
