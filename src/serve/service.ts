/** `tts serve` as a server: its routes, its key, who may ask, its start and its end. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineSet } from '../engines/engine.ts';
import { isLoopback } from '../kit/address.ts';
import type { Host } from '../kit/host.ts';
import { Callbacks, callbackOrigin } from './callbacks.ts';
import {
  DEFAULT_HOST,
  DEFAULT_MAX_TEXT,
  defaultLimits,
  type Exchange,
  type Limits,
  type Log,
  plainErrors,
  Refusal,
  refuse,
  sendJson,
  Traffic,
} from './http.ts';
import { Metrics } from './metrics.ts';
import { listModels, listVoices, openAiErrors, speakForOpenAi } from './openai.ts';
import openAi from './openai-openapi.json' with { type: 'json' };
import { refusalOf } from './sound.ts';
import type { ServiceContext } from './speak.ts';
import { speakForTts } from './tts.ts';
import tts from './tts-openapi.json' with { type: 'json' };

/**
 * Describes the service in OpenAPI 3.1: each face brings its own part.
 * @param url the address that all paths count from
 */
export function description(url: string): object {
  const components = Object.fromEntries(
    Object.entries(tts.components).map(([kind, named]) => [
      kind,
      { ...named, ...openAi.components[kind as keyof typeof openAi.components] },
    ]),
  );
  const [server] = tts.servers;
  return { ...tts, servers: [{ ...server, url }], paths: { ...tts.paths, ...openAi.paths }, components };
}

interface HandlerContext extends ServiceContext {
  readonly traffic: Traffic;
  /** The path in front of all paths of the service: empty, or as in `/api`. */
  readonly basePath: string;
  /** True if no key is asked for. */
  readonly isOpen: boolean;
  /**
   * @param asBearer true where `Authorization: Bearer` may hold it as well
   * @throws Refusal 401
   */
  checkKey(request: IncomingMessage, asBearer: boolean): void;
  /** The origin whose pages may use the service, `*` for all, or `undefined` for none. */
  readonly cors: string | undefined;
}

type Action = (exchange: Exchange, context: HandlerContext) => void | Promise<void>;

interface Route {
  readonly method: 'GET' | 'POST';
  readonly open: boolean;
  readonly action: Action;
}

/** The paths of OpenAI's interface stand below it. */
const OPENAI = '/v1/';

const routes: Readonly<Record<string, Route>> = {
  '/tts': { method: 'POST', open: false, action: speakForTts },
  '/v1/audio/speech': { method: 'POST', open: false, action: speakForOpenAi },
  '/v1/audio/voices': { method: 'GET', open: false, action: listVoices },
  '/v1/models': { method: 'GET', open: false, action: listModels },
  '/speakers': { method: 'GET', open: false, action: listSpeakers },
  '/healthz': { method: 'GET', open: true, action: sendHealth },
  '/openapi.json': { method: 'GET', open: true, action: sendDescription },
  '/metrics': { method: 'GET', open: true, action: sendMetrics },
};

function createHandler(
  context: HandlerContext,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const exchange = context.traffic.begin(request, response);
    if (exchange === undefined) return;
    limitStalling(response, context.limits.stall);
    void answer(exchange, context);
  };
}

async function answer(exchange: Exchange, context: HandlerContext): Promise<void> {
  const { response, signal, id } = exchange;
  try {
    await dispatch(exchange, context);
  } catch (error) {
    if (signal.aborted) return void response.destroy();
    if (!(error instanceof Refusal)) context.log?.({ event: 'defect', id, error });
    const refusal = refusalOf(error);
    exchange.details.refusal = refusal.code;
    if (response.headersSent) return void response.destroy();
    await refuse(exchange, refusal, isForOpenAi(exchange, context) ? openAiErrors : plainErrors);
  }
}

async function dispatch(exchange: Exchange, context: HandlerContext): Promise<void> {
  const { request, response, path } = exchange;
  allowOrigin(exchange, context);
  checkHost(request, context);
  if (isForPage(exchange, context)) return (await import('./page.ts')).sendPage(exchange);
  const route = routeTo(path, context);
  checkMethod(exchange, route.method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [route.method, 'OPTIONS']);
  if (request.method === 'OPTIONS') return void response.writeHead(204).end();
  if (!route.open) context.checkKey(request, isForOpenAi(exchange, context));
  await route.action(exchange, context);
}

function isForPage({ request, path }: Exchange, { basePath }: HandlerContext): boolean {
  const { method = '', headers } = request;
  const isBase = path === `${basePath}/` || path === basePath;
  return isBase && ['GET', 'HEAD'].includes(method) && /\btext\/html\b/i.test(headers.accept ?? '');
}

function isForOpenAi({ path }: Exchange, { basePath }: HandlerContext): boolean {
  return pathBelow(basePath, path).startsWith(OPENAI);
}

/** The paths that pages of another origin may use. */
const SHARED = ['/tts', '/speakers', '/v1/audio/speech', '/v1/audio/voices', '/v1/models'];
const EXPOSED = 'Retry-After, X-Instructions-Ignored, X-Request-Id';
const EXPOSED_TO_OPENAI = `${EXPOSED}, X-Voice`;

/** Seconds. */
const PREFLIGHT_AGE = 600;

function allowOrigin(exchange: Exchange, context: HandlerContext): void {
  const { request, response, path } = exchange;
  const { cors, basePath } = context;
  if (cors === undefined || !SHARED.includes(pathBelow(basePath, path))) return;
  const isOpenAi = isForOpenAi(exchange, context);
  // The one origin does not depend on the request, so there is no `Vary`.
  response.setHeader('Access-Control-Allow-Origin', cors);
  const exposed = isOpenAi ? EXPOSED_TO_OPENAI : EXPOSED;
  if (request.method !== 'OPTIONS') return void response.setHeader('Access-Control-Expose-Headers', exposed);
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
  // OpenAI's libraries add headers of their own, and "*" does not stand for `Authorization`.
  const headers = isOpenAi ? 'Authorization, *' : 'Authorization, Content-Type, X-API-KEY';
  response.setHeader('Access-Control-Allow-Headers', headers);
  response.setHeader('Access-Control-Max-Age', PREFLIGHT_AGE);
}

/** A web page could otherwise reach a service without a key (DNS rebinding). */
function checkHost({ headers }: IncomingMessage, { isOpen }: HandlerContext): void {
  if (!isOpen || isLoopbackHost(headers.host ?? 'localhost')) return;
  throw new Refusal(
    403,
    'foreign_host',
    'Without a key, this service answers to localhost and loopback addresses only',
  );
}

function isLoopbackHost(host: string): boolean {
  const url = `http://${host}`;
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}

function checkMethod({ request, response }: Exchange, allowed: readonly string[]): void {
  const { method = '' } = request;
  const isAllowed = allowed.includes(method);
  if (method === 'OPTIONS' || !isAllowed) response.setHeader('Allow', allowed.join(', '));
  if (isAllowed) return;
  throw new Refusal(405, 'method_not_allowed', `${method} is not allowed here; ${allowed.join(', ')} are`);
}

/** Health checks and scrapers know no base path. */
const WITHOUT_BASE_PATH = ['/healthz', '/metrics'];

function routeTo(path: string, { basePath }: HandlerContext): Route {
  const name = WITHOUT_BASE_PATH.includes(path) ? path : pathBelow(basePath, path);
  const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
  if (route !== undefined) return route;
  const paths = Object.keys(routes).map((known) => basePath + known);
  throw new Refusal(404, 'not_found', `There is nothing at this path; there are ${paths.join(', ')}`);
}

function pathBelow(basePath: string, path: string): string {
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : '';
}

function listSpeakers(exchange: Exchange, { engine, hide }: HandlerContext): void {
  const speakers = engine.speakers.map(({ no, name, kind, language, gender, sampleRate }) => ({
    speaker_no: no,
    name: hide(name),
    kind: kind ?? null,
    language,
    ...(gender && { gender }),
    sample_rate: sampleRate ?? null,
  }));
  sendJson(exchange, 200, { speakers });
}

function sendHealth(exchange: Exchange, { engine, traffic, callbacks }: HandlerContext): void {
  const { workers, queued } = engine;
  const requests = traffic.speaking;
  const status = workers > 0 ? 'ok' : 'starting';
  sendJson(exchange, 200, { status, workers, queued, requests, callbacks: callbacks.pending });
}

function sendMetrics({ response }: Exchange, { metrics, engine }: HandlerContext): void {
  const bytes = Buffer.from(metrics.text(engine.queued));
  response.writeHead(200, {
    'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
    'Content-Length': bytes.length,
  });
  response.end(bytes);
}

function sendDescription(exchange: Exchange, { basePath }: HandlerContext): void {
  sendJson(exchange, 200, description(basePath || '/'));
}

/** Synthesis itself has no limit. */
function limitStalling(response: ServerResponse, time: number): void {
  response.setTimeout(time, () => {
    if (response.writableLength > 0) response.destroy();
    else response.socket?.setTimeout(time);
  });
}

export interface ServiceOptions {
  /** The caller closes the engine. */
  readonly engine: EngineSet;
  /** Requests must have it in `X-API-KEY`. With null, no key is asked for. */
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
  const { host = DEFAULT_HOST, port = 0, basePath = '' } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const server = createServer({
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    connectionsCheckingInterval: Math.min(1_000, limits.headers),
  });
  server.maxConnections = limits.connections;
  const context = contextOf(options, server, limits);
  const handler = createHandler(context);
  server.on('request', handler).on('checkContinue', handler);
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${authority(server.address() as AddressInfo)}${basePath}`,
    close: (graceMs) => close(server, context, graceMs),
  };
}

function contextOf(options: ServiceOptions, server: Server, limits: Limits): HandlerContext {
  const { engine, apiKey, cors, basePath = '' } = options;
  const metrics = new Metrics(basePath);
  const log = metrics.listening(options.log);
  const origins = new Set(options.callbacks?.map(callbackOrigin));
  return {
    engine,
    limits,
    log,
    metrics,
    programs: options.programs,
    basePath,
    maxText: options.maxText ?? DEFAULT_MAX_TEXT,
    isOpen: apiKey === null,
    hide: options.hide ?? ((text) => text),
    checkKey: createKeyCheck(apiKey),
    cors,
    callbacks: new Callbacks({ apiKey, origins, limits, log }),
    traffic: new Traffic(server, log),
  };
}

async function close(server: Server, { traffic, callbacks }: HandlerContext, graceMs: number): Promise<void> {
  const closed = server.listening ? once(server, 'close') : Promise.resolve();
  server.close();
  traffic.close();
  const finished = closed.then(() => callbacks.settled());
  const wait = new AbortController();
  await Promise.race([finished, sleep(graceMs, undefined, { signal: wait.signal }).catch(() => {})]);
  wait.abort();
  traffic.abort();
  callbacks.abort();
  await finished;
}

function authority({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

/** The key has 192 bits, is safe in URLs and shells, and begins with no sign that makes it look like an option. */
export function randomKey(): string {
  return randomBytes(24).toString('hex');
}

/** The time of a check shows neither the length nor the start of the key. */
function createKeyCheck(apiKey: string | null): HandlerContext['checkKey'] {
  if (apiKey === null) return () => {};
  const wanted = sha256(Buffer.from(apiKey));
  return ({ headers }, asBearer) => {
    const bearer = asBearer ? /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1] : undefined;
    const given = headers['x-api-key'] ?? bearer;
    const name = asBearer ? 'Authorization: Bearer' : 'X-API-KEY';
    if (given === undefined) {
      throw new Refusal(401, 'missing_api_key', `The header ${name} with the API key is missing`);
    }
    // Node decodes headers as Latin-1.
    if (!timingSafeEqual(sha256(Buffer.from(String(given), 'latin1')), wanted)) {
      throw new Refusal(401, 'invalid_api_key', `The API key in ${name} is not valid`);
    }
  };
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
