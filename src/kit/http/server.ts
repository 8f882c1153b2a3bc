/**
 * The HTTP server: a table of routes, one key, and limits on the load that a client can cause. A connection has one request
 * at a time, bodies are JSON of a limited size, and an answer is made only as fast as its client reads it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { finished, pipeline } from 'node:stream/promises';
import { authorityOf, isLoopback } from '../address.ts';
import { checked, type Exchange, type HttpApi, HttpError, json, type Reply, type Route } from './route.ts';

export interface HttpServerOptions<Context> {
  /** The address to listen on. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The prefix of all paths, such as `/api`; '' for none. */
  readonly basePath: string;
  readonly apis: readonly [HttpApi<Context>, ...HttpApi<Context>[]];
  readonly context: Context;
  /** With null, no key is needed, and only requests to localhost or a loopback address are answered. */
  readonly apiKey: string | null;
  /** The origin whose pages may use the routes that need a key; `*` for all origins. */
  readonly cors: string | undefined;
  readonly limits: HttpLimits;
  /** Turns an error into one that a client may see. */
  errorOf(error: unknown, id: string): HttpError;
  /** Called after each request. @param route the path of the route; `undefined` for 404 */
  onEnd(record: RequestRecord, route: string | undefined): void;
}

/** Limits for clients. Times are in milliseconds. */
export interface HttpLimits {
  /** The largest body of a request, in bytes. */
  readonly body: number;
  readonly connections: number;
  /** The longest time for the headers of a request. */
  readonly headers: number;
  /** The longest time for a whole request. */
  readonly request: number;
  /** The longest time in which the client accepts no byte of an answer. Making an answer has no limit. */
  readonly stall: number;
}

/** The log entry of a request, without keys and texts. */
export interface RequestRecord {
  readonly event: 'request';
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** `undefined` if the client left before the answer. */
  readonly status: number | undefined;
  /** True if the client did not receive the whole answer. */
  readonly cut: boolean;
  readonly milliseconds: number;
  /** The code of the error that was sent. */
  readonly refusal?: string;
  readonly [detail: string]: unknown;
}

/** The route that a path leads to, and the API it belongs to. */
interface RouteMatch<Context> {
  readonly api: HttpApi<Context>;
  /** `undefined` for 404. */
  readonly route?: Route<Context>;
}

export class HttpServer<Context> {
  readonly #options: HttpServerOptions<Context>;
  readonly #server: Server;
  readonly #routes = new Map<string, RouteMatch<Context>>();
  /** Open connections, with true for those that wait for an answer. */
  readonly #connections = new Map<Socket, boolean>();
  #isStopping = false;

  private constructor(options: HttpServerOptions<Context>) {
    const { limits, apis, basePath } = options;
    this.#options = options;
    for (const api of apis)
      for (const route of api.routes)
        for (const base of route.isAnywhere ? ['', basePath] : [basePath])
          this.#routes.set(base + route.path, { api, route });
    this.#server = createServer({
      headersTimeout: limits.headers,
      requestTimeout: limits.request,
      connectionsCheckingInterval: Math.min(1_000, limits.headers),
    });
    this.#server.maxConnections = limits.connections;
    this.#server.on('connection', (socket) => {
      this.#connections.set(socket, false);
      socket.once('close', () => this.#connections.delete(socket));
    });
    const take = (_: IncomingMessage, response: ServerResponse) => void this.#take(response);
    this.#server.on('request', take).on('checkContinue', take);
  }

  /** @throws the error of `listen` */
  static async listen<Context>(options: HttpServerOptions<Context>): Promise<HttpServer<Context>> {
    const server = new HttpServer(options);
    server.#server.listen(options.port, options.host);
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://${authorityOf(this.#server.address() as AddressInfo)}${this.#options.basePath}`;
  }

  /** Accepts no more connections, and closes each one after its current request. Resolves when all are closed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined;
    this.#server.close();
    for (const [socket, isBusy] of this.#connections) if (!isBusy) socket.destroy();
    await closed;
  }

  /** Closes all connections now. */
  abort(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  async #take(response: ServerResponse): Promise<void> {
    const { socket, url = '/' } = response.req;
    // No pipelining: answers could pile up unread.
    if (socket.destroyed || this.#connections.get(socket)) return void socket.destroy();
    this.#connections.set(socket, true);
    const path = pathOf(url);
    const match = this.#match(path, response.req);
    const exchange = this.#begin(response, path, match.route);
    limitStalling(response, this.#options.limits.stall);
    try {
      const reply = await this.#replyTo(exchange, match, response);
      exchange.signal.throwIfAborted();
      await send(response, reply);
    } catch (error) {
      if (exchange.signal.aborted) return void response.destroy();
      const shown = this.#options.errorOf(error, exchange.id);
      exchange.details.refusal = shown.code;
      if (response.headersSent) return void response.destroy();
      await sendError(response, shown, match.api);
    }
  }

  #match(path: string, request: IncomingMessage): RouteMatch<Context> {
    const { apis, basePath } = this.#options;
    const match = this.#routes.get(path);
    if (match && (match.route?.isFor?.(request) ?? true)) return match;
    const cleaned = withoutExtraSlashes(path);
    const below = cleaned.startsWith(`${basePath}/`) ? cleaned.slice(basePath.length) : '';
    const api = apis.findLast(({ prefix }) => below.startsWith(prefix)) ?? apis[0];
    return (api.takesMoreSlashes && this.#routes.get(cleaned)) || { api };
  }

  #begin(response: ServerResponse, path: string, route: Route<Context> | undefined): Exchange {
    const { method = '', url = '/', headers, socket } = response.req;
    const [id, begun, details, over] = [crypto.randomUUID(), performance.now(), {}, new AbortController()];
    response.setHeader('X-Request-Id', id);
    response.once('close', () => {
      if (this.#connections.has(socket)) this.#connections.set(socket, false);
      if (this.#isStopping) socket.destroySoon();
      over.abort(new Error('the exchange is over'));
      const status = response.headersSent ? response.statusCode : undefined;
      const cut = !response.writableFinished;
      const milliseconds = Math.round(performance.now() - begun);
      const record = { event: 'request', id, method, path, status, cut, milliseconds, ...details } as const;
      this.#options.onEnd(record, route?.path);
    });
    return { id, begun, target: url, headers, body: undefined, signal: over.signal, details };
  }

  async #replyTo(
    exchange: Exchange,
    { api, route }: RouteMatch<Context>,
    response: ServerResponse,
  ): Promise<Reply> {
    const { apiKey, context, limits, cors } = this.#options;
    const { headers, method = '' } = response.req;
    if (cors !== undefined && route && !route.isOpen) allowOrigin(response, cors);
    if (apiKey === null) checkHost(headers);
    if (!route) throw this.#notFound();
    const allowed = [...(route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]), 'OPTIONS'];
    if (method === 'OPTIONS') return { status: 204, headers: { Allow: allowed.join(', ') } };
    if (!allowed.includes(method)) throw notAllowed(response, allowed);
    if (apiKey !== null && !route.isOpen) checkKey(headers, apiKey, api.takesBearer);
    if (!route.body) return route.handle(exchange, context);
    const body = checked(await readJson(response, limits.body), route.body, api.invalid);
    return route.handle({ ...exchange, body }, context);
  }

  #notFound(): HttpError {
    const { apis, basePath } = this.#options;
    const routes = apis.flatMap((api) => api.routes).filter(({ isFor }) => isFor === undefined);
    const paths = routes.map(({ path }) => basePath + path);
    return new HttpError(404, 'not_found', `There is nothing at this path; there are ${paths.join(', ')}`);
  }
}

/** The path of a target such as `/tts?x=1`, or `http://host/tts` from a proxy. */
function pathOf(target: string): string {
  return URL.canParse(target) ? new URL(target).pathname : (target.split('?', 1)[0] ?? '');
}

/** Removes extra slashes, which clients put between base URL and path, or at the end. */
function withoutExtraSlashes(path: string): string {
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
}

/** Seconds for which browsers cache the answer to a preflight request. */
const PREFLIGHT_SECONDS = 600;

/** Sets the CORS headers. No `Vary` is needed, since the origin does not depend on the request. */
function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin);
  if (response.req.method !== 'OPTIONS') {
    response.setHeader('Access-Control-Expose-Headers', '*');
    return;
  }
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
  // "*" does not include `Authorization`.
  response.setHeader('Access-Control-Allow-Headers', 'Authorization, *');
  response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
}

/** Refuses foreign host names, with which a web page could reach a server without a key (DNS rebinding). */
function checkHost({ host = 'localhost' }: IncomingHttpHeaders): void {
  const url = `http://${host}`;
  if (URL.canParse(url) && isLoopback(new URL(url).hostname)) return;
  throw new HttpError(
    403,
    'foreign_host',
    'Without a key, this service answers to localhost and loopback addresses only',
  );
}

function notAllowed(response: ServerResponse, allowed: readonly string[]): HttpError {
  const methods = allowed.join(', ');
  response.setHeader('Allow', methods);
  const message = `${response.req.method} is not allowed here; ${methods} are`;
  return new HttpError(405, 'method_not_allowed', message);
}

/**
 * Checks the key in a time that reveals neither its length nor its start. Clients made for OpenAI's service at Azure send
 * it as `api-key`.
 */
function checkKey(headers: IncomingHttpHeaders, apiKey: string, takesBearer: boolean): void {
  const bearer = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
  const given = headers['x-api-key'] ?? (takesBearer ? (headers['api-key'] ?? bearer) : undefined);
  const name = takesBearer ? 'Authorization: Bearer' : 'X-API-KEY';
  if (given === undefined)
    throw new HttpError(401, 'missing_api_key', `The header ${name} with the API key is missing`);
  // Node decodes headers as Latin-1.
  if (!timingSafeEqual(sha256(Buffer.from(String(given), 'latin1')), sha256(Buffer.from(apiKey))))
    throw new HttpError(401, 'invalid_api_key', `The API key in ${name} is not valid`);
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/**
 * Reads a body of JSON.
 * @param limit bytes
 * @throws HttpError 415 for another media type, 413 beyond the limit, 400 for a body that is not JSON in UTF-8
 */
async function readJson(response: ServerResponse, limit: number): Promise<unknown> {
  const { headers } = response.req;
  checkType(headers);
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  if (headers.expect !== undefined) response.writeContinue();
  const bytes = await readBytes(response.req, limit);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw error instanceof TypeError
      ? new HttpError(400, 'invalid_utf8', 'The body is not valid UTF-8')
      : new HttpError(400, 'invalid_json', 'The body is not valid JSON');
  }
}

function checkType({ 'content-type': value = '', 'content-encoding': encoding }: IncomingHttpHeaders): void {
  const [type = '', ...parameters] = value.toLowerCase().split(';');
  const charset = parameters.join(';').match(/\bcharset\s*=\s*"?([^\s";]*)/)?.[1] ?? 'utf-8';
  const wrong = (message: string) => new HttpError(415, 'unsupported_media_type', message);
  if (type.trim() !== 'application/json') throw wrong('The Content-Type must be application/json');
  if (!/^utf-?8$/.test(charset)) throw wrong('The charset of the body must be UTF-8');
  if ((encoding ?? 'identity') !== 'identity') throw wrong('The body must come without Content-Encoding');
}

/** Reads a body without `for await`, whose early end would destroy the connection before the error is sent. */
function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const take = (piece: Buffer) => {
      pieces.push(piece);
      length += piece.length;
      if (length <= limit) return;
      request.off('data', take);
      reject(tooLarge(limit));
    };
    request.on('data', take);
    request.once('end', () => resolve(Buffer.concat(pieces)));
    request.once('error', reject);
  });
}

function tooLarge(limit: number): HttpError {
  return new HttpError(413, 'body_too_large', `The body is larger than ${limit} bytes`);
}

/** @throws the error of a streamed body; the caller must then break the connection, so that the client notices */
async function send(response: ServerResponse, { status = 200, headers, body }: Reply): Promise<void> {
  if (body === undefined || body instanceof Uint8Array) {
    const length = body && { 'Content-Length': body.length };
    response.writeHead(status, { ...headers, ...length }).end(body);
    return;
  }
  response.writeHead(status, headers).flushHeaders();
  await pipeline(body, response);
}

/** Seconds of `Retry-After` for a busy server, if the error names none. */
const DEFAULT_RETRY_AFTER = 1;

async function sendError(response: ServerResponse, error: HttpError, api: HttpApi<never>): Promise<void> {
  const { status, retryAfter } = error;
  const wait = retryAfter ?? (status === 429 || status === 503 ? DEFAULT_RETRY_AFTER : undefined);
  const isUnread = hasUnreadBody(response.req);
  const { body, headers } = json(api.error(error));
  response.writeHead(status, {
    ...headers,
    'Content-Length': (body as Buffer).length,
    ...(status === 401 && { 'WWW-Authenticate': api.takesBearer ? 'Bearer' : 'ApiKey header="X-API-KEY"' }),
    ...(wait !== undefined && { 'Retry-After': Math.ceil(wait) }),
    ...(isUnread && { Connection: 'close' }),
  });
  response.write(body);
  // A client that waits for "100 Continue" has sent no body.
  if (isUnread && response.req.headers.expect === undefined) await drain(response.req);
  response.end();
}

function hasUnreadBody({ headers, complete }: IncomingMessage): boolean {
  const { 'content-length': length = 0, 'transfer-encoding': encoding } = headers;
  return !complete && (encoding !== undefined || Number(length) > 0);
}

/** Bytes and milliseconds up to which a refused body is still read, so that its sender gets to read the answer. */
const DRAIN = { bytes: 16 * 2 ** 20, time: 5_000 };

async function drain(request: IncomingMessage): Promise<void> {
  const enough = new AbortController();
  let left = DRAIN.bytes;
  request.on('data', (piece: Buffer) => {
    left -= piece.length;
    if (left < 0) enough.abort();
  });
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(DRAIN.time)]);
  await finished(request, { writable: false, signal }).catch(() => {});
}

/** Closes the connection if the client accepts no byte for this long. */
function limitStalling(response: ServerResponse, time: number): void {
  response.setTimeout(time, () => {
    if (response.writableLength > 0) response.destroy();
    else response.socket?.setTimeout(time);
  });
}
