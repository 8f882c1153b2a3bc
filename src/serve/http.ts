/** The HTTP side of `tts serve`, below its routes: requests, bodies, refusals, connections, and what the log gets. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Exchange {
  readonly id: string;
  /** The time by `performance.now()`. */
  readonly begun: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** It aborts when the client leaves or is given up. */
  readonly signal: AbortSignal;
  /** What the log says of it. */
  readonly details: { speaker?: number; characters?: number; refusal?: string };
  readonly path: string;
}

/** @param closed is called once, when the answer ends */
function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  closed: (record: RequestRecord) => void,
): Exchange {
  const controller = new AbortController();
  const exchange: Exchange = {
    id: randomUUID(),
    begun: performance.now(),
    request,
    response,
    signal: controller.signal,
    details: {},
    path: pathOf(request.url ?? '/'),
  };
  response.setHeader('X-Request-Id', exchange.id);
  response.once('close', () => {
    const whole = response.writableFinished;
    if (!whole) controller.abort();
    closed({
      event: 'request',
      id: exchange.id,
      method: request.method ?? '',
      path: exchange.path,
      status: response.headersSent ? response.statusCode : undefined,
      cut: !whole,
      milliseconds: Math.round(performance.now() - exchange.begun),
      ...exchange.details,
    });
  });
  return exchange;
}

/** A target is `/tts?x=1`, or `http://host/tts` from a proxy. */
function pathOf(target: string): string {
  return URL.canParse(target) ? new URL(target).pathname : (target.split('?', 1)[0] ?? '');
}

/** What the log gets of a request. It holds neither keys nor texts. */
export interface RequestRecord {
  readonly event: 'request';
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** It is missing if the client left before the answer. */
  readonly status: number | undefined;
  readonly cut: boolean;
  readonly milliseconds: number;
  readonly speaker?: number;
  /** Code points. */
  readonly characters?: number;
  readonly refusal?: string;
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

interface DefectRecord {
  readonly event: 'defect';
  readonly id: string;
  readonly error: unknown;
}

export type LogRecord = RequestRecord | CallbackRecord | EngineRecord | DefectRecord;
export type Log = (record: LogRecord) => void;

interface RefusalOptions {
  readonly field?: string | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
}

/** An answer of the service that is an error. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** It is 400 to 599. */
  readonly status: number;
  /** It is in snake_case. */
  readonly code: string;
  readonly field: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, { field, retryAfter }: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}

export const DEFAULT_HOST = '127.0.0.1';

/** Characters. It is nine hours of speech. */
export const DEFAULT_MAX_TEXT = 500_000;

/** Seconds. */
export const DEFAULT_RETRY_AFTER = 1;

/** What clients may use of the service. Times are in milliseconds. */
export interface Limits {
  /** The largest body of a request, in bytes. */
  readonly body: number;
  readonly connections: number;
  readonly headers: number;
  readonly request: number;
  /** The longest time in which no byte of an answer goes out. */
  readonly stall: number;
  readonly callbacks: number;
  /** The longest time of one try. */
  readonly callbackTry: number;
  /** The wait after the first try. It doubles for each further one. */
  readonly callbackBackoff: number;
}

export const defaultLimits: Limits = {
  body: 1024 * 1024,
  connections: 2048,
  headers: 10_000,
  request: 30_000,
  stall: 300_000,
  callbacks: 100,
  callbackTry: 30_000,
  callbackBackoff: 1_000,
};

/**
 * @param limit bytes
 * @throws Refusal 415 for another media type, 413 past the limit, 400 for what is no JSON in UTF-8
 */
export async function readJson(request: IncomingMessage, response: ServerResponse, limit: number) {
  checkHeaders(request, limit);
  if (request.headers.expect !== undefined) response.writeContinue();
  return parseJson(decode(await readBytes(request, limit)));
}

function hasUnreadBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return !request.complete && (encoding !== undefined || Number(length ?? 0) > 0);
}

function checkHeaders({ headers }: IncomingMessage, limit: number): void {
  checkType((headers['content-type'] ?? '').toLowerCase());
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new Refusal(415, 'unsupported_media_type', 'The body must come without Content-Encoding');
  }
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

function checkType(value: string): void {
  const [type = '', ...parameters] = value.split(';');
  if (type.trim() !== 'application/json') {
    throw new Refusal(415, 'unsupported_media_type', 'The Content-Type must be application/json');
  }
  const charset = parameters.join(';').match(/\bcharset\s*=\s*"?([^\s";]*)/)?.[1] ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') {
    throw new Refusal(415, 'unsupported_media_type', 'The charset of the body must be UTF-8');
  }
}

/** It does not use `for await`: an early end of it would destroy the connection of the refusal. */
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

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(400, 'invalid_utf8', 'The body is not valid UTF-8');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'invalid_json', 'The body is not valid JSON');
  }
}

function tooLarge(limit: number): Refusal {
  return new Refusal(413, 'body_too_large', `The body is larger than ${limit} bytes`);
}

/**
 * No half of a surrogate pair is left in it.
 * @param length what an error quotes at most, unless said otherwise
 */
export function wellFormedStart(text: string, length = 80): string {
  return text.slice(0, length).replace(/\p{Surrogate}/gu, '\ufffd');
}

/** A refused body is read up to these bytes and milliseconds, so that its sender sees the answer. */
const DRAIN = { bytes: 16 * 1024 * 1024, time: 5_000 };

export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly field?: string };
}

export function errorBody({ code, message, field }: Refusal): ErrorBody {
  return { error: { code, message, ...(field !== undefined && { field }) } };
}

export function sendJson({ response }: Exchange, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length });
  response.end(bytes);
}

/** How one interface of the service tells errors. */
export interface ErrorForm {
  /** The value of `WWW-Authenticate` for a request without the right key. */
  readonly challenge: string;
  body(refusal: Refusal): object;
}

/** The errors of `POST /tts` and of all that describes the service. */
export const plainErrors: ErrorForm = { challenge: 'ApiKey header="X-API-KEY"', body: errorBody };

export async function refuse(exchange: Exchange, refusal: Refusal, form: ErrorForm): Promise<void> {
  const { request, response } = exchange;
  const { status } = refusal;
  const body = Buffer.from(JSON.stringify(form.body(refusal)));
  const unread = hasUnreadBody(request);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    ...(status === 401 && { 'WWW-Authenticate': form.challenge }),
    ...(status === 429 || status === 503 || refusal.retryAfter !== undefined
      ? { 'Retry-After': String(Math.ceil(refusal.retryAfter ?? DEFAULT_RETRY_AFTER)) }
      : {}),
    ...(unread && { Connection: 'close' }),
  });
  response.write(body);
  // A client that waits for "100 Continue" sends no body.
  if (unread && request.headers.expect === undefined) await drain(request);
  response.end();
}

function drain(request: IncomingMessage): Promise<void> {
  if (request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let left = DRAIN.bytes;
    const timer = setTimeout(resolve, DRAIN.time);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    request.on('data', (piece: Buffer) => {
      left -= piece.length;
      if (left < 0) done();
    });
    request.once('end', done).once('close', done).once('error', done);
    request.resume();
  });
}

/** The connections of a server, and the request that each of them is busy with. */
export class Traffic {
  readonly #connections = new Map<Socket, Exchange | undefined>();
  readonly #log: Log | undefined;
  #isClosing = false;

  constructor(server: Server, log: Log | undefined) {
    this.#log = log;
    server.on('connection', (socket) => {
      this.#connections.set(socket, undefined);
      socket.once('close', () => this.#connections.delete(socket));
    });
  }

  /** Requests whose text is spoken, or waits to be. */
  get speaking(): number {
    return [...this.#connections.values()].filter((one) => one?.details.characters !== undefined).length;
  }

  /**
   * A connection asks one thing at a time: requests that are pipelined could pile up answers that nobody reads.
   * @returns `undefined` where the connection still waits for an answer, and is closed for that
   */
  begin(request: IncomingMessage, response: ServerResponse): Exchange | undefined {
    const { socket } = request;
    if (socket.destroyed || this.#connections.get(socket) !== undefined) {
      socket.destroy();
      return undefined;
    }
    const exchange = openExchange(request, response, (record) => {
      if (this.#connections.has(socket)) this.#connections.set(socket, undefined);
      if (this.#isClosing) socket.destroySoon();
      this.#log?.(record);
    });
    this.#connections.set(socket, exchange);
    return exchange;
  }

  /** Closes each connection as soon as its request is answered. */
  close(): void {
    this.#isClosing = true;
    for (const [socket, exchange] of this.#connections) if (exchange === undefined) socket.destroy();
  }

  /** Closes all connections now. */
  abort(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }
}
