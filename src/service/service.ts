import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopback } from '../address.ts';
import type { EngineSet } from '../engine/contract.ts';
import type { Host } from '../host.ts';
import { Callbacks } from './callbacks/callbacks.ts';
import { readCallbackPolicy } from './callbacks/policy.ts';
import type { Fault } from './faults/fault.ts';
import { createHandler, type HandlerContext } from './handler.ts';
import { createRefusing } from './http/client-error.ts';
import type { Log } from './http/exchange.ts';
import { DEFAULT_HOST, DEFAULT_MAX_TEXT, defaultLimits, type Limits, Refusal } from './http/refusal.ts';
import { readInSlices } from './http/slices.ts';
import { Traffic } from './http/traffic.ts';

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
  /** Origins that sound may be sent to. `*` stands for all public ones. */
  readonly callbacks?: readonly string[];
  /** The origin whose pages may use the service. `*` stands for all. */
  readonly cors?: string | undefined;
  /** With `undefined`, the service has no faults, and none can be set. */
  readonly faults?: readonly Fault[] | undefined;
  readonly log?: Log | undefined;
  /** Takes keys out of names of voices. */
  hide?(text: string): string;
  /** True serves `GET /metrics`. */
  readonly metrics?: boolean;
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
    // The handler answers a request without a host itself, in JSON.
    requireHostHeader: false,
  });
  server.maxConnections = limits.connections;
  const context = await contextOf(options, server, limits);
  const handler = createHandler(context);
  server.on('connection', readInSlices);
  server.on('request', handler).on('checkContinue', handler).on('checkExpectation', handler);
  server.on('connect', (request, socket) => {
    socket.removeAllListeners('data'); // Node takes its own listener off, and knows nothing of slices
    // Node takes the connection away from earlier requests, and may read on after it is destroyed.
    if (socket.destroyed || context.traffic.isBusy(socket)) socket.destroy();
    else handler(request, responseOver(socket as Socket, request));
  });
  server.on('clientError', createRefusing(context.traffic, context.log));
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${authority(server.address() as AddressInfo)}${basePath}`,
    close: (graceMs) => close(server, context, graceMs),
  };
}

async function contextOf(options: ServiceOptions, server: Server, limits: Limits): Promise<HandlerContext> {
  const { engine, apiKey, host = DEFAULT_HOST } = options;
  const { faults, cors, basePath = '' } = options;
  const metrics = options.metrics ? new (await import('./http/metrics.ts')).Metrics(basePath) : undefined;
  const log = metrics?.listening(options.log) ?? options.log;
  const callbackPolicy = readCallbackPolicy(options.callbacks ?? [], isLoopback(host));
  return {
    engine,
    limits,
    log,
    metrics,
    programs: options.programs,
    callbackPolicy,
    basePath,
    maxText: options.maxText ?? DEFAULT_MAX_TEXT,
    isOpen: apiKey === null,
    hide: options.hide ?? ((text) => text),
    checkKey: createKeyCheck(apiKey),
    faultControl: faults && new (await import('./faults/fault-control.ts')).FaultControl(faults),
    cors,
    callbacks: new Callbacks({ apiKey, origins: callbackPolicy.origins, limits, log }),
    traffic: new Traffic(server, limits.idle, log),
  };
}

async function close(server: Server, { traffic, callbacks }: HandlerContext, graceMs: number): Promise<void> {
  const closed = server.listening ? once(server, 'close') : Promise.resolve();
  server.close();
  traffic.close();
  const finished = closed.then(() => callbacks.settled());
  const patience = new AbortController();
  await Promise.race([finished, sleep(graceMs, undefined, { signal: patience.signal }).catch(() => {})]);
  patience.abort();
  traffic.abort();
  callbacks.abort();
  await finished;
}

function authority({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Node leaves the socket of a CONNECT to the program. */
function responseOver(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  socket.on('error', () => {});
  return response;
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
