import { lookup } from 'node:dns/promises';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { bareHost } from '../kit/address.ts';
import { ExitCode, TtsError } from '../kit/error.ts';
import { HttpClient, type ProxyRoute, plainBody } from '../kit/http/client.ts';
import { firstBytes, noAnswer, ProxyError, refusal } from '../kit/http/failures.ts';
import { type RetryPolicy, type RetryState, waitOrGiveUp } from '../kit/retry.ts';
import { IdleError, unlessAborted } from '../kit/wait.ts';
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

export interface Probe {
  readonly url: URL;
  readonly isProxy?: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** @throws TtsError (connection, timeout) */
export async function lookUp({ url, timeoutMs, signal }: Probe): Promise<string[]> {
  try {
    const found = await unlessAborted(
      unlessLate(lookup(bareHost(url.hostname), { all: true }), timeoutMs),
      signal,
    );
    return found.map(({ address }) => address);
  } catch (cause) {
    throw noAnswer(cause, url, timeoutMs);
  }
}

/** @throws TtsError (connection, timeout) */
export async function reach(probe: Probe): Promise<void> {
  const socket = tcpConnect({ host: bareHost(probe.url.hostname), port: portOf(probe.url) });
  await opened(socket, 'connect', probe, () => undefined);
}

/**
 * @returns the protocol, as in `TLSv1.3`, and the last day of the certificate
 * @throws TtsError (connection, timeout)
 */
export async function handshake(probe: Probe): Promise<{ protocol: string; until: string }> {
  const host = bareHost(probe.url.hostname);
  const socket = tlsConnect({ host, port: portOf(probe.url), ...(!isIP(host) && { servername: host }) });
  return opened(socket, 'secureConnect', probe, () => ({
    protocol: socket.getProtocol() ?? 'TLS',
    until: new Date(socket.getPeerCertificate().valid_to).toISOString().slice(0, 10),
  }));
}

function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

function unlessLate<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new IdleError('idle')), limitMs).unref();
    void promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function opened<T>(
  socket: Socket,
  event: string,
  { url, isProxy, timeoutMs, signal }: Probe,
  look: () => T,
): Promise<T> {
  const connected = new Promise<void>((resolve, reject) => {
    socket.once(event, resolve).on('error', reject);
    socket.setTimeout(timeoutMs, () => reject(new IdleError('idle')));
  });
  return unlessAborted(connected, signal)
    .then(look)
    .catch((cause) => {
      throw noAnswer(isProxy ? new ProxyError(url, cause) : cause, url, timeoutMs);
    })
    .finally(() => socket.destroy());
}
