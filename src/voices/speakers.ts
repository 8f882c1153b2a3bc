import { ExitCode, TtsError } from '../kit/error.ts';
import { HttpClient, type ProxyRoute, plainBody } from '../kit/http/client.ts';
import { firstBytes, noAnswer, refusal } from '../kit/http/failures.ts';
import { type RetryPolicy, type RetryState, waitOrGiveUp } from '../kit/retry.ts';
import { printable } from '../kit/words.ts';

export interface ServiceSpeaker {
  readonly no: number;
  readonly name?: string | undefined;
  readonly kind?: string | undefined;
  readonly language?: string | undefined;
  /** Hz. */
  readonly sampleRate?: number | undefined;
}

interface Listing extends RetryPolicy {
  /** The address ends in `/tts`. */
  readonly url: URL;
  readonly key: string;
  readonly keyOrigin: string;
  readonly timeoutMs: number;
  readonly proxy: ProxyRoute | undefined;
}

/** The statuses of services without a list. */
const NO_LIST = new Set([301, 302, 307, 308, 400, 404, 405, 406, 410, 501]);

/** MiB. Ten thousand speakers take less. */
const MOST_MIB = 4;
const MOST_BYTES = MOST_MIB * 2 ** 20;

/**
 * It sends `GET {base}/speakers`.
 * @returns `undefined` for a service without a list
 * @throws TtsError
 */
export async function listSpeakers(
  listing: Listing,
  signal: AbortSignal,
): Promise<ServiceSpeaker[] | undefined> {
  const url = new URL(listing.url);
  url.pathname = url.pathname.replace(/\/tts$/, '/speakers');
  const { timeoutMs, proxy } = listing;
  await using http = new HttpClient({ connections: 1, timeoutMs, proxyFor: () => proxy });
  for (const state: RetryState = { made: 0 }; ; ) {
    const done = new AbortController();
    try {
      return await fetchOnce(http, { ...listing, url }, AbortSignal.any([signal, done.signal]));
    } catch (error) {
      await waitOrGiveUp(error, listing, state, signal);
    } finally {
      done.abort();
    }
  }
}

async function fetchOnce(
  http: HttpClient,
  listing: Listing,
  signal: AbortSignal,
): Promise<ServiceSpeaker[] | undefined> {
  const { url, key, timeoutMs } = listing;
  const headers = { 'X-API-KEY': key };
  const answer = await http.send({ method: 'GET', url, headers }, signal).catch((cause) => {
    throw noAnswer(cause, url, timeoutMs);
  });
  if (NO_LIST.has(answer.status)) return undefined;
  if (answer.status !== 200) throw await refusal(answer, listing);
  const { bytes, isWhole } = await firstBytes(plainBody(answer), MOST_BYTES);
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
  return read(Buffer.from(bytes).toString());
}

function read(body: string): ServiceSpeaker[] | undefined {
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
