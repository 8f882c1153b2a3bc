/** Starts and stops the server of `tts serve`, and sets the limits for its clients. */
import { randomBytes } from 'node:crypto';
import { type HttpLimits, HttpServer, type RequestRecord } from '../kit/http/server.ts';
import { loadOnce, resolvesWithin } from '../kit/wait.ts';
import type { Reference } from '../voices/timed-words.ts';
import { APIS } from './apis.ts';
import { type CallbackLimits, type CallbackOutcome, Callbacks, callbackOrigin } from './callbacks.ts';
import { Metrics } from './metrics.ts';
import { errorOf, type ServiceContext } from './speak.ts';
import { ttsApi } from './tts.ts';
import type { WyomingLimits, WyomingOptions, WyomingServer } from './wyoming.ts';

export interface ServiceOptions
  extends Pick<ServiceContext, 'voices' | 'log' | 'reading' | 'hide' | 'maxText' | 'programs' | 'basePath'> {
  /** The key that requests must send; null for none. */
  readonly apiKey: string | null;
  /** The address to listen on. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The port for the Wyoming protocol, which needs no key; 0 takes a free one, `undefined` turns it off. */
  readonly wyoming: number | undefined;
  /** Origins that may receive callbacks. */
  readonly callbacks: readonly string[];
  /** The origin whose web pages may use the service; `*` allows all. */
  readonly cors: string | undefined;
  readonly limits?: Partial<Limits>;
}

export interface Service {
  readonly url: string;
  /** The URL of the Wyoming server. */
  readonly wyoming: string | undefined;
  /** Stops the servers. @param graceMs milliseconds until requests in progress are aborted */
  close(graceMs: number): Promise<void>;
}

/**
 * The caller closes the voices.
 * @throws TtsError for bad callback origins; the error of `listen`
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { voices, apiKey, cors, host, port, basePath, log, maxText, hide, reading, programs } = options;
  const limits = { ...LIMITS, ...options.limits };
  const errorFor = (error: unknown, id: string) => errorOf(error, id, { voices, log });
  const callbacks = new Callbacks({
    apiKey,
    origins: new Set(options.callbacks.map(callbackOrigin)),
    limits,
    log,
    errorBody: (error, id) => ttsApi.error(errorFor(error, id)),
  });
  let reference: Reference | undefined;
  const openReference = loadOnce(async () => {
    const { openReference } = await import('../run/words.ts');
    reference = await openReference(programs);
    return reference;
  });
  const metrics = new Metrics();
  const context: ServiceContext = {
    ...{ voices, log, hide, maxText, reading, programs, callbacks, metrics, basePath, openReference },
    speaking: new Set(),
  };
  const onEnd = (record: RequestRecord, route: string | undefined) => {
    // The two routes of the page, `/` and the empty path, count as one.
    metrics.addRequest(route === undefined ? 'other' : route || '/', record.status);
    log(record);
  };
  const common = { host, context, limits, errorOf: errorFor, onEnd };
  const http = await HttpServer.listen({ ...common, port, basePath, apis: APIS, apiKey, cors });
  const wyoming = await openWyoming(options.wyoming, common).catch(async (error) => {
    await http.stop();
    throw error;
  });
  const close = async (graceMs: number) => {
    await closeAll([http, ...(wyoming ? [wyoming] : [])], callbacks, graceMs);
    await reference?.[Symbol.asyncDispose]();
  };
  return { url: http.url, wyoming: wyoming?.url, close };
}

async function openWyoming(
  port: number | undefined,
  options: Omit<WyomingOptions, 'port'>,
): Promise<WyomingServer | undefined> {
  if (port === undefined) return undefined;
  const { WyomingServer } = await import('./wyoming.ts');
  return WyomingServer.listen({ ...options, port });
}

async function closeAll(
  servers: readonly Pick<WyomingServer, 'stop' | 'abort'>[],
  callbacks: Callbacks,
  graceMs: number,
): Promise<void> {
  const stopped = Promise.all(servers.map((server) => server.stop()));
  const finished = stopped.then(() => callbacks.settled());
  await resolvesWithin(graceMs, finished);
  for (const server of servers) server.abort();
  callbacks.abort();
  await finished;
}

export type LogRecord = { readonly id: string } & (
  | RequestRecord
  | ({ readonly event: 'callback'; readonly origin: string } & CallbackOutcome)
  /** An error message of an engine that is withheld from clients. */
  | { readonly event: 'engine'; readonly reason: string }
  /** The client named an unknown voice, and another one of its language speaks; `language` is that of `voice`. */
  | { readonly event: 'voice'; readonly asked: string; readonly voice: string; readonly language: string }
  | { readonly event: 'defect'; readonly error: unknown }
);
export type Log = (record: LogRecord) => void;

/** Limits for clients. Times are in milliseconds. */
type Limits = HttpLimits & CallbackLimits & WyomingLimits;

const LIMITS: Limits = {
  body: 1024 * 1024,
  connections: 2048,
  peers: 128,
  headers: 10_000,
  request: 30_000,
  stall: 300_000,
  callbacks: 100,
  callbackTry: 30_000,
  callbackBackoff: 1_000,
};

/** Returns a key of 192 bits, in hexadecimal: safe in URLs and shells, and never mistaken for an option. */
export function randomKey(): string {
  return randomBytes(24).toString('hex');
}
