/** The HTTP/1.1 client, on undici. */
import { subscribe } from 'node:diagnostics_channel';
import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import { isExcepted, percentDecoded } from '../address.ts';
import { ExitCode, TtsError } from '../error.ts';
import { AsyncQueue } from '../queue.ts';
import { delayTierUp } from '../tier-up.ts';
import { IdleError, mapErrors, peek } from '../wait.ts';
import { printable } from '../words.ts';
import { brokenAnswer, noAnswer, ProxyError } from './failures.ts';

export interface ProxyRoute {
  /** The address of the proxy, which may contain user and password. */
  readonly url: URL;
  /** Hosts to reach without the proxy, as in `NO_PROXY`. */
  readonly except: string;
}

export interface HttpClientOptions {
  /** The largest number of connections to one origin. */
  readonly connections: number;
  /** A request fails if connecting, the head of the answer, or the next bytes of its body take longer. */
  readonly timeoutMs: number;
  readonly proxyFor?: ((url: URL) => ProxyRoute | undefined) | undefined;
  /** The version of Node, only in runs that may be short, for {@link delayTierUp}. */
  readonly runtime?: string | undefined;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Readable | undefined;
}

export interface Answer {
  readonly status: number;
  /** The headers by lower-case name. Of several values, only the first is kept, unless the header is a list. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The body, which can be read once. Content codings are decoded unless the request has `accept-encoding: identity`. The
   * socket pauses while the body is not read. Reading throws a TtsError if the answer breaks off.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Timeouts that the head of an answer, with all 1xx answers before it, may take. */
const TIMEOUTS_PER_HEAD = 10;

/** Follows no redirects, never retries, and keeps connections open for the next requests. */
export class HttpClient implements AsyncDisposable {
  readonly #options: HttpClientOptions;
  readonly #closing = new AbortController();
  /** By the address of the proxy, '' for none. */
  readonly #agents = new Map<string, Promise<Dispatcher>>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * Resolves when the head of the answer has arrived. A reader that stops early ends the request.
   * @param signal must abort if the body is not read at all
   * @throws TtsError of {@link noAnswer} if the connection fails, or the reason of the signal
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<Answer> {
    const { url, headers } = request;
    const { timeoutMs } = this.#options;
    const errorFor = (word: typeof noAnswer, cause: unknown) =>
      signal.aborted ? signal.reason : word(cause, url, timeoutMs);
    try {
      const answer = await this.#dispatch(request, signal);
      const body = headers?.['accept-encoding'] === 'identity' ? answer.body : decoded(answer);
      return { ...answer, body: mapErrors(body, (cause) => errorFor(brokenAnswer, cause)) };
    } catch (cause) {
      throw errorFor(noAnswer, cause);
    }
  }

  async #dispatch({ method, url, headers, body }: HttpRequest, signal: AbortSignal): Promise<Answer> {
    const { timeoutMs, proxyFor } = this.#options;
    const route = proxyFor?.(url);
    const proxy = route && !isExcepted(url, route.except) ? route.url : undefined;
    const transfer = new Transfer(signal);
    const late = setTimeout(() => transfer.abort(new IdleError('no answer')), TIMEOUTS_PER_HEAD * timeoutMs);
    const request: Dispatcher.DispatchOptions = {
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: { ...headers },
      body: body ?? null,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    };
    try {
      (await this.#agent(proxy, url)).dispatch(request, transfer);
      return await transfer.answer;
    } catch (error) {
      throw proxy && !signal.aborted ? proxyFailure(error, proxy, transfer.hasConnection) : error;
    } finally {
      clearTimeout(late);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = [...this.#agents.values()].map(async (agent) => (await agent).destroy());
    // undici itself does not abort connections that are being opened.
    this.#closing.abort();
    await Promise.all(closed);
  }

  #agent(proxy: URL | undefined, url: URL): Promise<Dispatcher> {
    const key = proxy?.href ?? '';
    const agent = this.#agents.get(key) ?? this.#open(proxy, url);
    this.#agents.set(key, agent);
    return agent;
  }

  /**
   * Opens the agent for a proxy or for none. An http proxy gets http requests in absolute form (RFC 9112, section 3.2.2);
   * the others go through a tunnel. undici is loaded only here, since loading it takes 20 ms and 20 MB.
   */
  async #open(proxy: URL | undefined, { protocol }: URL): Promise<Dispatcher> {
    const undici = await import('undici');
    const { connections, timeoutMs, runtime } = this.#options;
    // Loaded now, since the delay of tier-up would slow its loading.
    if (protocol === 'https:') await import('node:tls');
    await delayTierUp(runtime);
    const connect = { timeout: timeoutMs, signal: this.#closing.signal };
    const options = { connections, pipelining: 1 };
    if (!proxy) return new undici.Agent({ ...options, connect });
    return new undici.ProxyAgent({
      ...options,
      uri: proxy.origin,
      ...(hasLogin(proxy) && { token: `Basic ${loginOf(proxy)}` }),
      proxyTunnel: false,
      proxyTls: connect,
      requestTls: connect,
      clientFactory: (origin, given) =>
        new undici.Pool(origin, { ...given, headersTimeout: Math.ceil(timeoutMs) }),
    });
  }
}

function hasLogin({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

function loginOf({ username, password }: URL): string {
  return Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`).toString('base64');
}

/** The error of a proxy, or the error as it is if the host is at fault. undici reports the status only in its message. */
function proxyFailure(error: unknown, proxy: URL, hasConnection: boolean): unknown {
  const [, status] = /^Proxy [^(]*\((\d{3})\)/.exec((error as Error | undefined)?.message ?? '') ?? [];
  if (status !== undefined) return new ProxyError(proxy, error, Number(status));
  return hasConnection || error instanceof IdleError ? error : new ProxyError(proxy, error);
}

/** Unread bytes of a body at which the socket pauses. */
const BUFFER_BYTES = 1 << 16;

/**
 * One request and its answer, for `dispatch` of undici. `request` of undici loses the bytes before an error, and fails an
 * assertion if a connection ends normally while the body is paused.
 */
class Transfer implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  #resolve!: (answer: Answer) => void;
  #reject!: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;
  readonly #signal: AbortSignal;
  #buffered = 0;
  readonly #body = new AsyncQueue<Buffer>(({ length }) => {
    this.#buffered -= length;
    if (this.#buffered < BUFFER_BYTES) this.resume();
  });

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** True once the request has a connection. */
  get hasConnection(): boolean {
    return this.#controller !== undefined;
  }

  readonly #onAbort = () => this.abort(this.#signal.reason);

  /** Fails the request or its answer, and drops the unread bytes. */
  abort(error: unknown): void {
    this.#fail(error);
    this.#body.clear();
    this.#abandon();
  }

  resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) this.#abandon();
    else starting = this;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) this.#resolve({ status, headers: singleValues(headers), body: this.#read() });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    // undici delivers an empty piece when it resumes.
    if (this.#isOver || piece.length === 0) return;
    this.#buffered += piece.length;
    this.#body.push(piece);
    if (this.#buffered >= BUFFER_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
    this.#abandon();
  }

  /** Yields the body. An error is thrown only after all bytes that arrived before it. */
  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#body;
    } finally {
      this.#body.clear();
      this.#abandon();
    }
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#reject(error);
    this.#end(error);
  }

  #end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#body.end(error);
  }

  /** Ends the request. Has no effect after the end of the answer. */
  #abandon(): void {
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#controller?.abort(new Error('the answer is not needed'));
  }
}

/** The transfer whose request undici is about to write. */
let starting: Transfer | undefined;

/** The last transfer on each connection. */
const transfers = new WeakMap<Socket, Transfer | undefined>();

/** undici publishes this right after `onRequestStart`, and also for the CONNECT of a tunnel, which has no transfer. */
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { readonly socket: Socket };
  const isNew = !transfers.has(socket);
  transfers.set(socket, starting);
  if (starting) ignoreContinue(socket);
  starting = undefined;
  if (!isNew) return;
  // undici takes ECONNRESET for the regular end of a body without a length, and asserts that no paused body ends.
  socket.prependListener('error', (error: NodeJS.ErrnoException) =>
    rename(error, 'ECONNRESET', SOCKET_ERROR),
  );
  socket.prependListener('end', () => transfers.get(socket)?.resume());
});

/** After a socket error of its own, as from a proxy that hangs up, undici would reconnect forever. */
subscribe('undici:client:connectError', (message) => {
  rename((message as { readonly error: NodeJS.ErrnoException }).error, SOCKET_ERROR, 'ECONNRESET');
});

/** Bytes of interim answers that are buffered while they arrive in pieces. */
const MOST_INTERIM_BYTES = 16_384;

const CONTINUE = 'HTTP/1.1 100';
const INTERIM = /^HTTP\/1\.1 1(?!01)\d\d/;
const HEAD_END = '\r\n\r\n';

/**
 * Makes undici ignore `100 Continue`, as a client may that did not ask for it (RFC 9110, section 15.2.1). undici fails at
 * it, but ignores other interim answers, so 100 is changed to 102 before the parser sees it.
 */
function ignoreContinue(socket: Socket): void {
  let held: Buffer = Buffer.alloc(0);
  const look = () => {
    const came: Buffer | null = socket.read();
    if (came === null) return;
    const bytes = held.length === 0 ? came : Buffer.concat([held, came]);
    const { settled, isOver } = interimLength(bytes);
    const end = isOver || bytes.length > MOST_INTERIM_BYTES ? bytes.length : settled;
    held = bytes.subarray(end);
    if (isOver || end > settled) socket.off('readable', look);
    if (end > 0) socket.unshift(bytes.subarray(0, end));
  };
  socket.prependListener('readable', look);
}

/** @returns the length of the complete interim answers, and whether the final answer begins after them */
function interimLength(bytes: Buffer): { readonly settled: number; readonly isOver: boolean } {
  for (let at = 0; ; ) {
    const line = bytes.toString('latin1', at, at + CONTINUE.length);
    if (line.length < CONTINUE.length)
      return { settled: at, isOver: line !== '' && !CONTINUE.startsWith(line) };
    if (!INTERIM.test(line)) return { settled: at, isOver: true };
    if (line === CONTINUE) bytes.write('2', at + CONTINUE.length - 1);
    const end = bytes.indexOf(HEAD_END, at);
    if (end === -1) return { settled: at, isOver: false };
    at = end + HEAD_END.length;
  }
}

const SOCKET_ERROR = 'UND_ERR_SOCKET';

function rename(error: NodeJS.ErrnoException, from: string, to: string): void {
  if (error.code === from) error.code = to;
}

/** Headers whose values are joined into a list (RFC 9110, section 5.3). */
const LIST_HEADERS = new Set(['content-encoding']);

function singleValues(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value];
      return [name, LIST_HEADERS.has(name) ? value.join(', ') : value[0]];
    }),
  );
}

/** Content codings that can be decoded. */
const CODINGS = ['gzip', 'x-gzip', 'deflate', 'br'];
const MOST_CODINGS = 4;

/** Decodes a body (RFC 9110, section 8.4). Reading it throws a TtsError for an unknown coding, and errors of zlib. */
function decoded({ headers, body }: Answer): AsyncIterable<Uint8Array> {
  const named = (headers['content-encoding'] ?? '').split(',').map((coding) => coding.trim().toLowerCase());
  const codings = named.filter((coding) => coding !== '' && coding !== 'identity');
  return codings.length > MOST_CODINGS
    ? decompress(body, codings.join(', '))
    : codings.reduceRight(decompress, body);
}

async function* decompress(packed: AsyncIterable<Uint8Array>, coding: string): AsyncGenerator<Uint8Array> {
  if (!CODINGS.includes(coding))
    throw new TtsError(`the answer has an unknown content encoding: ${printable(coding)}`, {
      exitCode: ExitCode.service,
      hint: 'the service, or a proxy in between, has to send gzip, deflate, br or no encoding',
    });
  const { held, all } = await peek(packed, 1);
  const decoder = await decoderOf(coding, held.find(({ length }) => length > 0)?.[0] ?? 0);
  // Errors reach the reader of the decoder.
  pipeline(Readable.from(all), decoder).catch(() => {});
  try {
    yield* decoder;
  } finally {
    decoder.destroy();
  }
}

/** The first byte distinguishes the two forms of `deflate`, since many services leave out the zlib wrapper. */
async function decoderOf(coding: string, firstByte: number): Promise<Transform> {
  const zlib = await import('node:zlib');
  if (coding === 'br') return zlib.createBrotliDecompress();
  if (coding !== 'deflate') return zlib.createGunzip();
  return (firstByte & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
}
