import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import type { Duplex } from 'node:stream';
import { EngineError, type EngineFault, queueFull } from '../engines/engine.ts';
import { unwritable } from '../kit/folders.ts';
import type { PcmFormat } from '../sound/pcm.ts';

export interface Exchange {
  readonly id: string;
  /** The time by `performance.now()`. */
  readonly begun: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** It aborts when the client leaves or is given up. */
  readonly signal: AbortSignal;
  readonly details: { -readonly [K in Detail]?: NonNullable<RequestRecord[K]> };
  readonly path: string;
  cancel(): void;
}

type Detail = 'speaker' | 'characters' | 'refusal' | 'status';

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
    cancel() {
      controller.abort();
      response.destroy();
    },
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

/** A target is `/tts?x=1`, `http://host/tts` or, for CONNECT, `host:443`. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target.split('?', 1)[0] ?? '/';
  return /^https?:/i.test(target) && URL.canParse(target) ? new URL(target).pathname : target;
}

/** What the log gets of a request. It holds neither keys nor texts. */
export interface RequestRecord {
  readonly event: 'request';
  readonly id: string;
  /** It is missing if the bytes were not a request. */
  readonly method?: string;
  readonly path?: string;
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
  /** It is 400 to 599. `--fault` also takes statuses from 300 on. */
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

const ANSWERS: Readonly<Record<EngineFault, readonly [status: number, code: string]>> = {
  'unsupported text': [422, 'unsupported_text'],
  busy: [503, 'busy'],
  broken: [500, 'engine_failed'],
  failed: [502, 'engine_failed'],
  late: [504, 'engine_late'],
  unreachable: [502, 'engine_unreachable'],
  refused: [502, 'engine_failed'],
  'no storage': [507, 'storage_failed'],
};

/** A busy engine keeps its own status. */
function ofEngine({ kind, message, retryAfter, status: own }: EngineError): Refusal {
  const [status, code] = ANSWERS[kind];
  const field = kind === 'unsupported text' ? 'text' : undefined;
  return new Refusal(kind === 'busy' ? (own ?? status) : status, code, message, { field, retryAfter });
}

export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof EngineError) return ofEngine(error);
  return new Refusal(500, 'internal_error', 'The service failed on this request');
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
  /** Connections of one address without a request. The oldest are closed. */
  readonly idle: number;
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
  idle: 1024,
  headers: 10_000,
  request: 30_000,
  stall: 300_000,
  callbacks: 100,
  callbackTry: 30_000,
  callbackBackoff: 1_000,
};

/**
 * @param limit bytes
 * @throws Refusal 415 for another media type, 413 past the limit, 400 for anything but unambiguous JSON in UTF-8
 */
export async function readJson(request: IncomingMessage, response: ServerResponse, limit: number) {
  checkHeaders(request, limit);
  if (request.headers.expect !== undefined) response.writeContinue();
  return parse(await readBytes(request, limit));
}

function hasUnreadBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return !request.complete && (encoding !== undefined || Number(length ?? 0) > 0);
}

function checkHeaders({ headers, headersDistinct }: IncomingMessage, limit: number): void {
  for (const type of headersDistinct['content-type'] ?? ['']) checkType(type.toLowerCase());
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

function parse(bytes: Buffer): unknown {
  const text = decode(bytes);
  const value = parseJson(text);
  const key = repeatedKey(text);
  if (key === undefined) return value;
  const field = wellFormedStart(key);
  throw new Refusal(400, 'repeated_key', `The key ${field} stands twice in one object`, { field });
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

const TOKEN = /[{}]|("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g;

/**
 * Readers of JSON differ in which of two values counts.
 * @param json is valid JSON
 */
export function repeatedKey(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, string = '', colon] of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const key: string = JSON.parse(string);
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
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

/**
 * Words of an engine may quote its key, and those of a full folder name it. A refusal of a field has the service's own
 * words.
 */
function withoutInnerWords({ status, code, message, field, retryAfter }: Refusal): Refusal {
  const isBusy = status === 429 || status === 503;
  const said = isBusy ? queueFull().message : 'The voice failed; the log of the service says why';
  return new Refusal(status, code, field === undefined ? said : message, { field, retryAfter });
}

/** @returns what the client may know of an error that ended its sound; the log gets the rest */
export function forClient(error: unknown, id: string, { log }: { readonly log: Log | undefined }): unknown {
  if (!(error instanceof EngineError || error instanceof Refusal)) return error;
  const refusal = refusalOf(error);
  const known = withoutInnerWords(refusal);
  if (known.message !== error.message) log?.({ event: 'engine', id, reason: error.message });
  return known;
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

/** A connection with more requests without an answer is closed. */
const MOST_UNANSWERED = 10;

/** Knows all connections, and the requests on each that have no whole answer yet. */
export class Traffic {
  /** Connections and requests are in the order in which they came. */
  readonly #connections = new Map<Duplex, Set<Exchange>>();
  readonly #closing = new AbortController();
  readonly #log: Log | undefined;

  /** @param mostIdle see `Limits.idle` */
  constructor(server: Server, mostIdle: number, log: Log | undefined) {
    this.#log = log;
    server.on('connection', (socket) => {
      this.#connections.set(socket, new Set());
      if (this.#connections.size > mostIdle) this.#closeIdle(socket.remoteAddress, mostIdle);
      socket.once('close', () => {
        const left = this.#on(socket);
        this.#connections.delete(socket);
        // Node closes the answer that has its turn, and forgets those that wait for theirs.
        for (const { response } of left) if (!response.socket) response.emit('close');
      });
    });
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get speaking(): number {
    const exchanges = [...this.#connections.values()].flatMap((open) => [...open]);
    return exchanges.filter(({ details }) => details.characters !== undefined).length;
  }

  /** @returns `undefined` for a connection that is gone, or that goes because too many of its requests wait */
  begin(request: IncomingMessage, response: ServerResponse): Exchange | undefined {
    const { socket } = request;
    const open = this.#connections.get(socket);
    if (open === undefined || socket.destroyed || open.size >= MOST_UNANSWERED) {
      socket.destroy();
      return undefined;
    }
    const exchange = openExchange(request, response, (record) => {
      open.delete(exchange);
      if (this.closing.aborted && open.size === 0) socket.destroySoon();
      this.#log?.(record);
    });
    open.add(exchange);
    return exchange;
  }

  /**
   * Answers leave in the order of their requests: one of a connection is made at a time.
   * @throws the reason of the exchange's signal
   */
  async turnOf(exchange: Exchange): Promise<void> {
    const open = this.#on(exchange.request.socket);
    const before = open[open.indexOf(exchange) - 1];
    if (before) await closeOf(before);
    exchange.signal.throwIfAborted();
  }

  /** @returns false for a broken answer, into which another one would fall */
  async answered(socket: Duplex): Promise<boolean> {
    await Promise.all(
      this.#on(socket)
        .filter(({ request }) => request.complete)
        .map(closeOf),
    );
    return !this.#on(socket).some(({ response }) => response.headersSent);
  }

  tornOn(socket: Duplex): Exchange | undefined {
    return this.#on(socket).find(({ request }) => !request.complete);
  }

  isBusy(socket: Duplex): boolean {
    return this.#on(socket).length > 0;
  }

  close(): void {
    this.#closing.abort();
    for (const [socket, open] of this.#connections) if (open.size === 0) socket.destroy();
  }

  abort(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  /** Closes the oldest idle connections. Half a request does not keep a connection open. */
  #closeIdle(address: string | undefined, most: number): void {
    const idle = [...this.#connections].filter(
      ([socket, open]) =>
        (socket as Socket).remoteAddress === address && ![...open].some(({ request }) => request.complete),
    );
    for (const [socket] of idle.slice(0, Math.max(0, idle.length - most))) socket.destroy();
  }

  #on(socket: Duplex): readonly Exchange[] {
    return [...(this.#connections.get(socket) ?? [])];
  }
}

function closeOf({ response }: Exchange): Promise<unknown> {
  return new Promise((resolve) => response.once('close', resolve));
}

interface ClientError extends NodeJS.ErrnoException {
  /** The last bytes that came. */
  readonly rawPacket?: Buffer;
  /** The number of these bytes that were parsed. */
  readonly bytesParsed?: number;
}

const refusals: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal(408, 'request_timeout', 'The request took too long to arrive'),
  HPE_HEADER_OVERFLOW: new Refusal(431, 'headers_too_large', 'The headers are too large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Refusal(413, 'body_too_large', 'The chunk extensions are too large'),
};
const malformed = new Refusal(400, 'malformed_request', 'This is not a valid HTTP request');
const unknownMethod = new Refusal(501, 'unknown_method', 'There is no such method');

/** RFC 9110, section 5.6.2, and RFC 9112, section 3, have this form. */
const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/\d\.\d\r?$/;

/** The refusal follows the answers to earlier requests, and closes the connection. */
export function createRefusing(traffic: Traffic, log: Log | undefined) {
  // The parser reports its error again for further bytes.
  const refused = new WeakSet<Duplex>();
  return async (error: ClientError, socket: Duplex): Promise<void> => {
    if (refused.has(socket)) return;
    refused.add(socket);
    if (await traffic.answered(socket)) refuseRaw(error, socket, { torn: traffic.tornOn(socket), log });
    else socket.destroy();
  };
}

interface RefuseContext {
  readonly torn: Exchange | undefined;
  readonly log: Log | undefined;
}

function refuseRaw(error: ClientError, socket: Duplex, { torn, log }: RefuseContext): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const id = torn?.id ?? randomUUID();
  const refusal = refusalOfParser(error);
  const { status } = refusal;
  const body = JSON.stringify(errorBody(refusal));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nX-Request-Id: ${id}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
  if (torn) Object.assign(torn.details, { status, refusal: refusal.code });
  else log?.({ event: 'request', id, status, cut: false, milliseconds: 0, refusal: refusal.code });
}

function refusalOfParser({ code = '', rawPacket, bytesParsed }: ClientError): Refusal {
  if (code === 'HPE_INVALID_METHOD' && REQUEST_LINE.test(lineAt(rawPacket, bytesParsed)))
    return unknownMethod;
  return refusals[code] ?? malformed;
}

function lineAt(bytes: Buffer = Buffer.of(), position = 0): string {
  const start = position === 0 ? 0 : bytes.lastIndexOf('\n', position - 1) + 1;
  const end = bytes.indexOf('\n', position);
  return bytes.toString('latin1', start, end < 0 ? bytes.length : end);
}

/** About ninety short requests fit. */
const SLICE_BYTES = 4096;

/**
 * Node parses all requests that one piece of a connection holds, even if the first of them closes the connection,
 * and a piece has up to 64 KiB. In small slices, many pipelined requests are cheap to refuse.
 *
 * The server must have put its own listener for data on the socket.
 */
export function readInSlices(socket: Socket): void {
  const listeners = socket.listeners('data');
  socket.removeAllListeners('data');
  socket.on('data', (piece: Buffer) => {
    for (const parse of listeners) parse.call(socket, piece.subarray(0, SLICE_BYTES));
    // The rest comes back as data of its own, at once or when the socket is resumed.
    if (piece.length > SLICE_BYTES && !socket.destroyed) socket.unshift(piece.subarray(SLICE_BYTES));
  });
}

/** What an engine makes of one request. */
export interface Sound {
  readonly format: PcmFormat;
  /** True if the engine surely speaks the text. Otherwise it may still refuse it. */
  readonly speakable: boolean;
  readonly pcm: AsyncIterable<Uint8Array>;
}

/** Sound that is complete. */
export interface StoredSound {
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
  dispose(): Promise<void>;
}

/** Bytes. A longer sound goes to a file. */
const MOST = 4 * 1024 * 1024;

/** Bytes. All stored sound in memory together is not longer. */
const MOST_OF_ALL = 64 * 1024 * 1024;

const READ_SIZE = 256 * 1024;

let kept = 0;

/** @throws Refusal 507 if the temporary folder takes no more; the errors of the sound */
export async function storeSound(sound: AsyncIterable<Uint8Array>): Promise<StoredSound> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let file: FileHandle | undefined;
  try {
    for await (const piece of sound) {
      pieces.push(piece);
      bytes += piece.length;
      kept += piece.length;
      if (file === undefined && bytes <= MOST && kept <= MOST_OF_ALL) continue;
      file ??= await openNamelessFile().catch(refuseStorage);
      for (const part of take(pieces)) await file.writeFile(part).catch(refuseStorage);
    }
  } catch (error) {
    take(pieces);
    await file?.close();
    throw error;
  }
  return file === undefined ? inMemory(pieces, bytes) : inFile(file, bytes);
}

function take(pieces: Uint8Array[]): Uint8Array[] {
  kept -= pieces.reduce((sum, { length }) => sum + length, 0);
  return pieces.splice(0);
}

function inMemory(pieces: Uint8Array[], bytes: number): StoredSound {
  async function* read() {
    yield* pieces;
  }
  return { bytes, read, dispose: async () => void take(pieces) };
}

function inFile(file: FileHandle, bytes: number): StoredSound {
  async function* read() {
    for (let position = 0; position < bytes; ) {
      const length = Math.min(READ_SIZE, bytes - position);
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
      if (bytesRead === 0) throw new Error(`The stored sound ended at ${position} of ${bytes} bytes`);
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
  return { bytes, read, dispose: () => file.close() };
}

/** RFC 4918, section 11.5. */
const INSUFFICIENT_STORAGE = 507;

function refuseStorage(cause: unknown): never {
  throw new Refusal(INSUFFICIENT_STORAGE, 'storage_failed', unwritable(tmpdir(), cause).message);
}

/** The file loses its name at once: it has no other reader. */
async function openNamelessFile(): Promise<FileHandle> {
  const [{ open, unlink }, { tmpdir }, { randomUUID }, { join }] = await Promise.all([
    import('node:fs/promises'),
    import('node:os'),
    import('node:crypto'),
    import('node:path'),
  ]);
  const path = join(tmpdir(), `tts-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}
