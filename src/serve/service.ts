/** `tts serve` as a server: its start and its end, and what clients may use of it. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../kit/host.ts';
import { type HttpLimits, HttpServer, type RequestRecord } from '../kit/http/server.ts';
import type { Reference } from '../voices/timed-words.ts';
import { type CallbackLimits, type CallbackOutcome, Callbacks, callbackOrigin } from './callbacks.ts';
import type { TextReading } from './clean.ts';
import { FACES } from './faces.ts';
import { Metrics } from './metrics.ts';
import { errorOf, type ServedVoices, type ServiceContext } from './speak.ts';
import { ttsFace } from './tts.ts';
import type { WyomingLimits, WyomingOptions, WyomingServer } from './wyoming.ts';

/** Characters. It is nine hours of speech. */
const DEFAULT_MAX_TEXT = 500_000;

const DEFAULT_HOST = '127.0.0.1';

export interface ServiceOptions {
  /** The caller closes them. */
  readonly voices: ServedVoices;
  /** Requests must have it. With null, no key is asked for. */
  readonly apiKey: string | null;
  /** The address to listen on. By default it is loopback. */
  readonly host?: string;
  /** By default it is 0, which takes a free port. */
  readonly port?: number;
  /** The port of the face of Wyoming, which asks for no key; 0 takes a free one. Without it, there is no such face. */
  readonly wyoming?: number | undefined;
  /** The path in front of all paths, such as `/api`. By default it is empty. */
  readonly basePath?: string;
  /** Code points. */
  readonly maxText?: number;
  /** Origins that sound may be sent to. By default there are none. */
  readonly callbacks?: readonly string[];
  /** The origin whose pages may use the service. `*` stands for all. */
  readonly cors?: string | undefined;
  readonly log?: Log | undefined;
  /** Without it, texts are spoken as they come. */
  readonly texts?: TextReading | undefined;
  /** Takes keys out of names of voices. */
  hide?(text: string): string;
  readonly limits?: Partial<Limits>;
  /** Encoders of some formats are looked for here, and espeak-ng, which times words. */
  readonly programs?: (Pick<Host, 'env' | 'platform'> & Partial<Pick<Host, 'runtime'>>) | undefined;
}

export interface Service {
  readonly url: string;
  /** Where the face of Wyoming listens. */
  readonly wyoming: string | undefined;
  /** @param graceMs milliseconds that requests under way have to end */
  close(graceMs: number): Promise<void>;
}

/** @throws TtsError for bad callback origins; the error of `listen` */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { voices, apiKey, cors, host = DEFAULT_HOST, port = 0, basePath = '' } = options;
  const { log = () => {}, maxText = DEFAULT_MAX_TEXT, hide = (text) => text, programs } = options;
  const limits = { ...LIMITS, ...options.limits };
  const metrics = new Metrics();
  const errorFor = (error: unknown, id: string) => errorOf(error, id, { voices, log });
  const callbacks = new Callbacks({
    apiKey,
    origins: new Set(options.callbacks?.map(callbackOrigin)),
    limits,
    log,
    errorBody: (error, id) => ttsFace.error(errorFor(error, id)),
  });
  const speaking: ServiceContext['speaking'] = new Set();
  const words = new SharedReference(programs ?? NO_PROGRAMS);
  const own = { voices, log, hide, maxText, programs, callbacks, metrics, speaking, basePath };
  const captioned: ServiceContext['captioned'] = async (...asked) => {
    const { captioned } = await import('./captions.ts');
    return captioned(...asked, { context, openReference: () => words.open() });
  };
  const context: ServiceContext = { ...own, reading: options.texts, captioned };
  const onEnd = (record: RequestRecord, route: string | undefined) => {
    // The page has an address with a slash at its end, and one without.
    metrics.addRequest(route === undefined ? 'other' : route || '/', record.status);
    log(record);
  };
  const common = { host, context, limits, errorOf: errorFor, onEnd };
  const http = await HttpServer.listen({ ...common, port, basePath, faces: FACES, apiKey, cors });
  const wyoming = await openWyoming(options.wyoming, common).catch(async (error) => {
    await http.stop();
    throw error;
  });
  const close = async (graceMs: number) => {
    await closeAll([http, ...(wyoming ? [wyoming] : [])], callbacks, graceMs);
    await words.close();
  };
  return { url: http.url, wyoming: wyoming?.url, close };
}

const NO_PROGRAMS = { env: {}, platform: 'linux' } as const;

/** What times the words of all requests, from the first one that asks for words. */
class SharedReference {
  readonly #host: NonNullable<ServiceOptions['programs']>;
  #opened: Promise<Reference> | undefined;

  constructor(host: NonNullable<ServiceOptions['programs']>) {
    this.#host = host;
  }

  open(): Promise<Reference> {
    this.#opened ??= import('../run/words.ts').then(({ openReference }) => openReference(this.#host));
    return this.#opened;
  }

  async close(): Promise<void> {
    await (await this.#opened)?.[Symbol.asyncDispose]();
  }
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
  const isFinished = new AbortController();
  const late = sleep(graceMs, undefined, isFinished).catch(() => {});
  await Promise.race([finished, late]);
  isFinished.abort();
  for (const server of servers) server.abort();
  callbacks.abort();
  await finished;
}

export type LogRecord = { readonly id: string } & (
  | RequestRecord
  | ({ readonly event: 'callback'; readonly origin: string } & CallbackOutcome)
  /** The words of an engine that clients do not get. */
  | { readonly event: 'engine'; readonly reason: string }
  /** A voice of another region speaks than the client named; the language is that of the voice. */
  | { readonly event: 'voice'; readonly asked: string; readonly voice: string; readonly language: string }
  | { readonly event: 'defect'; readonly error: unknown }
);
export type Log = (record: LogRecord) => void;

/** What clients may use of the service. Times are in milliseconds. */
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

/** The key has 192 bits, is safe in URLs and shells, and begins with no sign that makes it look like an option. */
export function randomKey(): string {
  return randomBytes(24).toString('hex');
}
