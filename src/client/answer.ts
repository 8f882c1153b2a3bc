import { singleItem } from '../async.ts';
import type { Speech } from '../audio/pcm.ts';
import { WavError } from '../audio/wav-format.ts';
import { QUOTED_BYTES, readWav } from '../audio/wav-reader.ts';
import { ExitCode, TtsError } from '../error.ts';
import { isText, messageIn } from '../error-answer.ts';
import { statusIn } from './error-body.ts';
import { brokenAnswer } from './failure.ts';
import { NO_CONTENT, PARTIAL_CONTENT, refusal, type ServiceName } from './refusal.ts';
import type { Answer } from './response-stream.ts';

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
  const body = await plainBody(answer);
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

const MOST_CODINGS = 4;

/** Gives the body without its codings. zlib loads for a coded body only. */
export async function plainBody({ headers, body }: Answer): Promise<AsyncIterable<Uint8Array>> {
  const codings = codingsIn(headers['content-encoding'] ?? '');
  if (codings.length === 0) return body;
  const { decompress } = await import('./content-coding.ts');
  if (codings.length > MOST_CODINGS) return decompress(body, codings.join(', '));
  return codings.reduceRight(decompress, body);
}

/** The names of the codings in `Content-Encoding` (RFC 9110, section 8.4). */
function codingsIn(header: string): string[] {
  const codings = header.split(',').map((coding) => coding.trim().toLowerCase());
  return codings.filter((coding) => coding !== '' && coding !== 'identity');
}
