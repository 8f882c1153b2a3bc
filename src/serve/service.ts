/** `tts serve` as a server: its faces and its own routes, its start and its end. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { Host } from '../kit/host.ts';
import { type Face, json, type Route } from '../kit/http/route.ts';
import { type HttpLimits, HttpServer, type RequestRecord } from '../kit/http/server.ts';
import { type CallbackLimits, Callbacks, callbackOrigin } from './callbacks.ts';
import type { Clean } from './clean.ts';
import { Metrics } from './metrics.ts';
import { openAiFace } from './openai.ts';
import { errorOf, type ServedVoices, type ServiceContext } from './speak.ts';
import { ttsFace } from './tts.ts';

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
  readonly clean?: Clean | undefined;
  /** Takes keys out of names of voices. */
  hide?(text: string): string;
  readonly limits?: Partial<Limits>;
  /** Encoders of some formats are looked for here. */
  readonly programs?: Pick<Host, 'env' | 'platform'> | undefined;
}

export interface Service {
  readonly url: string;
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
  const context = {
    voices,
    log,
    hide,
    clean: options.clean,
    maxText,
    programs,
    callbacks,
    metrics,
    speaking,
    basePath,
  };
  const server = await HttpServer.listen({
    ...{ host, port, basePath, faces: FACES, context, apiKey, cors, limits },
    errorOf: errorFor,
    onEnd: (record, route) => {
      // The page has an address with a slash at its end, and one without.
      metrics.addRequest(route === undefined ? 'other' : route || '/', record.status);
      log(record);
    },
  });
  return {
    url: server.url,
    async close(graceMs) {
      const finished = server.stop().then(() => callbacks.settled());
      const isFinished = new AbortController();
      const late = sleep(graceMs, undefined, isFinished).catch(() => {});
      await Promise.race([finished, late]);
      isFinished.abort();
      server.abort();
      callbacks.abort();
      await finished;
    },
  };
}

interface CallbackRecord {
  readonly event: 'callback';
  readonly id: string;
  readonly origin: string;
  readonly delivered: boolean;
  readonly tries: number;
  readonly reason?: string;
}

/** The words of an engine that clients do not get. */
interface EngineRecord {
  readonly event: 'engine';
  readonly id: string;
  readonly reason: string;
}

/** A voice of another region speaks than the client named. */
interface VoiceRecord {
  readonly event: 'voice';
  readonly id: string;
  readonly asked: string;
  readonly voice: string;
  /** Of the voice that speaks. */
  readonly language: string;
}

interface DefectRecord {
  readonly event: 'defect';
  readonly id: string;
  readonly error: unknown;
}

export type LogRecord = RequestRecord | CallbackRecord | EngineRecord | VoiceRecord | DefectRecord;
export type Log = (record: LogRecord) => void;

/** What clients may use of the service. Times are in milliseconds. */
type Limits = HttpLimits & CallbackLimits;

const LIMITS: Limits = {
  body: 1024 * 1024,
  connections: 2048,
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

const HEALTH = v.object({
  status: v.pipe(
    v.picklist(['ok', 'starting']),
    v.description('`starting` while no worker is ready: requests are taken, and wait until one is'),
  ),
  workers: v.pipe(v.number(), v.description('Speech workers that are alive')),
  queued: v.pipe(v.number(), v.description('Requests that wait for a worker to begin with them')),
  requests: v.pipe(v.number(), v.description('Requests for speech that are under way')),
  callbacks: v.pipe(v.number(), v.description('Callbacks that are not delivered yet')),
});

const health: Route<ServiceContext> = {
  method: 'GET',
  path: '/healthz',
  isOpen: true,
  isAnywhere: true,
  about: {
    operationId: 'checkHealth',
    summary: 'Say whether the service is well',
    answers: { 200: { description: 'It runs.', content: { 'application/json': HEALTH } } },
  },
  handle: (_, { voices: { workers, queued }, speaking, callbacks }) =>
    json({
      status: workers > 0 ? 'ok' : 'starting',
      workers,
      queued,
      requests: speaking.size,
      callbacks: callbacks.pending,
    }),
};

const metrics: Route<ServiceContext> = {
  method: 'GET',
  path: '/metrics',
  isOpen: true,
  isAnywhere: true,
  about: {
    operationId: 'measure',
    summary: 'Count requests and sound',
    description:
      'For Prometheus: requests by path and status, seconds of sound, the length of the queue, and a histogram of the time to the first byte of sound. It holds no texts.',
    answers: {
      200: {
        description: 'The text form of Prometheus, version 0.0.4.',
        content: { 'text/plain': undefined },
      },
    },
  },
  handle: (_, { metrics, voices }) => ({
    headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
    body: Buffer.from(metrics.text(voices.queued)),
  }),
};

const description: Route<ServiceContext> = {
  method: 'GET',
  path: '/openapi.json',
  isOpen: true,
  about: {
    operationId: 'describe',
    summary: 'Describe the service',
    answers: { 200: { description: 'This document.', content: { 'application/json': v.looseObject({}) } } },
  },
  handle: async (_, { basePath }) => {
    const { description } = await import('./description.ts');
    return json({ ...description, servers: [{ url: basePath || '/' }] });
  },
};

/** Browsers get the page; for all others, nothing is here. */
const page: Omit<Route<ServiceContext>, 'path'> = {
  method: 'GET',
  isOpen: true,
  isFor: ({ method, headers }) =>
    (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.accept ?? ''),
  handle: async ({ target }) => (await import('./page.ts')).page(target),
};

const ownFace: Face<ServiceContext> = {
  ...ttsFace,
  name: 'service',
  // Without a slash at its end, the address of the page leads to the one with it.
  routes: [health, metrics, description, { ...page, path: '/' }, { ...page, path: '' }],
};

export const FACES = [ttsFace, ownFace, openAiFace] as const;
