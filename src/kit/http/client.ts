import { once, setMaxListeners } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { addAbortSignal, Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connect as tlsConnect } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { buildConnector, Dispatcher } from 'undici';
import { bareHost, isExcepted, percentDecoded } from '../address.ts';
import { ExitCode, TtsError } from '../error.ts';
import { IdleError } from '../wait.ts';
import { printable } from '../words.ts';
import { failureCode, ProxyError, ProxyRefusal, TunnelError } from './failures.ts';
import { type Answer, ResponseStream } from './stream.ts';

export interface ProxyRoute {
  /** The address may contain user and password. */
  readonly url: URL;
  /** The hosts that are reached without the proxy, as in `NO_PROXY`. */
  readonly except: string;
}

export interface TransportOptions {
  /** All requests go to its origin. */
  readonly url: URL;
  readonly connections: number;
  /** A connection fails after this many milliseconds without a byte. */
  readonly timeoutMs: number;
  readonly proxy?: ProxyRoute | undefined;
}

type Headers = Readonly<Record<string, string>>;

/** Follows no redirect, and sends nothing twice. */
export interface Transport {
  /** @param signal it must abort if the answer is not read to its end */
  post(body: string, headers: Headers, signal: AbortSignal): Promise<Answer>;
  /** @param from an address of the same origin, if it is another one */
  get(headers: Headers, signal: AbortSignal, from?: URL): Promise<Answer>;
  close(): Promise<void>;
}

export async function createTransport(options: TransportOptions): Promise<Transport> {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const { pool, targetOf, proxy } = await openPool(options, closing.signal);
  const send = async (
    request: Pick<Dispatcher.DispatchOptions, 'method' | 'body'>,
    headers: Headers,
    signal: AbortSignal,
    to = options.url,
  ) => {
    const target = targetOf(to);
    const stream = new ResponseStream(options.timeoutMs, signal);
    const all = { ...headers, ...target.headers };
    pool.dispatch({ ...request, ...target, headers: all, headersTimeout: 0, bodyTimeout: 0 }, stream);
    const answer = await stream.answer.catch((error: unknown) => {
      throw proxy && !stream.hasConnection ? new ProxyError(proxy.host, error) : error;
    });
    if (proxy && answer.status === PROXY_AUTHENTICATION_REQUIRED) throw new ProxyRefusal(answer.status);
    return answer;
  };
  return {
    post: (body, headers, signal) => send({ method: 'POST', body }, headers, signal),
    get: (headers, signal, from) => send({ method: 'GET' }, headers, signal, from),
    async close() {
      const closed = pool.destroy();
      // undici does not close connections that are still being made.
      closing.abort();
      await closed;
    },
  };
}

const PROXY_AUTHENTICATION_REQUIRED = 407;

interface OpenPool {
  readonly pool: Dispatcher;
  readonly targetOf: (url: URL) => {
    readonly origin: string;
    readonly path: string;
    readonly headers: Headers;
  };
  readonly proxy?: URL;
}

/** Requests for http go to the proxy in absolute form (RFC 9112, section 3.2.2), those for https through a tunnel. */
async function openPool(
  { url, connections, timeoutMs: timeout, proxy: route }: TransportOptions,
  signal: AbortSignal,
): Promise<OpenPool> {
  const { origin, host } = url;
  const direct = (to: URL) => ({ origin, path: to.pathname + to.search, headers: {} });
  const connect = { timeout, signal };
  const { default: Pool } = await import('undici/lib/dispatcher/pool.js');
  if (!route || isExcepted(url, route.except))
    return { pool: new Pool(origin, { connections, connect }), targetOf: direct };
  const proxy = route.url;
  if (url.protocol === 'https:' || proxy.protocol === 'https:')
    return {
      pool: new Pool(origin, { connections, connect: tunnelThrough(proxy, connect) }),
      targetOf: direct,
    };
  const headers = { host, ...proxyAuthorization(proxy) };
  const pool = new Pool(proxy.origin, { connections, connect });
  const inFull = (to: URL) => ({
    origin: proxy.origin,
    path: `${origin}${to.pathname}${to.search}`,
    headers,
  });
  return { pool, targetOf: inFull, proxy };
}

/** The first byte tells the two forms of `deflate` apart: many services leave out the zlib wrapper. */
const decoders = new Map<string, (firstByte: number) => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
]);

/**
 * Undoes the codings of a body (RFC 9110, section 8.4). Errors of the data are zlib's.
 * @throws TtsError (service) for an unknown coding
 */
export async function* decompress(
  packed: AsyncIterable<Uint8Array>,
  coding: string,
): AsyncGenerator<Uint8Array> {
  const create = decoders.get(coding);
  if (!create)
    throw new TtsError(`the answer has an unknown content encoding: ${printable(coding)}`, {
      exitCode: ExitCode.service,
      hint: 'gzip, deflate and br are read: the service, or a proxy in between, has to use one of them or none',
    });
  const pieces = packed[Symbol.asyncIterator]();
  const first = await pieces.next();
  const decoder = create(first.done ? 0 : (first.value[0] ?? 0));
  async function* all() {
    for (let next = first; !next.done; next = await pieces.next()) yield next.value;
  }
  // The reader of the decoder gets the errors.
  pipeline(Readable.from(all()), decoder).catch(() => {});
  try {
    yield* decoder;
  } finally {
    decoder.destroy();
  }
}

interface TunnelLimits {
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Connects with CONNECT (RFC 9110, section 9.3.6). undici's ProxyAgent takes 70 ms to load, and tries again without end if a
 * proxy hangs up.
 */
function tunnelThrough(proxy: URL, { timeout, signal }: TunnelLimits): buildConnector.connector {
  return (target, callback) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    void connect(proxy, target, limit).then(
      (socket) => callback(null, addAbortSignal(signal, socket)),
      (error) => callback(error, null),
    );
  };
}

async function connect(
  proxy: URL,
  { host = '', hostname, port, protocol }: buildConnector.Options,
  signal: AbortSignal,
): Promise<Socket> {
  const isSecure = protocol === 'https:';
  const tunnel = await openTunnel(proxy, port ? host : `${host}:${isSecure ? 443 : 80}`, signal);
  if (!isSecure) return tunnel;
  const name = isIP(hostname) ? {} : { servername: hostname };
  const secure = tlsConnect({ socket: tunnel, host: hostname, ...name }).on('error', () => {});
  try {
    await once(secure, 'secureConnect', { signal });
    return secure;
  } catch (error) {
    secure.destroy();
    throw signal.aborted ? new IdleError('idle') : error;
  }
}

/** @param target `host:port` */
async function openTunnel(proxy: URL, target: string, signal: AbortSignal): Promise<Socket> {
  const isSecure = proxy.protocol === 'https:';
  const request = (isSecure ? httpsRequest : httpRequest)({
    method: 'CONNECT',
    host: bareHost(proxy.hostname),
    port: proxy.port || (isSecure ? 443 : 80),
    path: target,
    headers: { host: target, ...proxyAuthorization(proxy) },
    agent: false,
    signal,
  });
  let isConnected = false;
  request.once('socket', (socket: Socket) => {
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      isConnected = true;
    });
  });
  request.end();
  try {
    const [{ statusCode = 0 }, socket, head] = (await once(request, 'connect')) as ConnectEvent;
    socket.on('error', () => {}).setNoDelay(true);
    if (statusCode < 200 || statusCode > 299) {
      socket.destroy();
      throw new ProxyRefusal(statusCode);
    }
    if (head.length > 0) socket.unshift(head);
    return socket;
  } catch (error) {
    if (error instanceof ProxyRefusal) throw error;
    const cause = signal.aborted ? new IdleError('idle') : error;
    throw isConnected ? tunnelError(cause) : new ProxyError(proxy.host, cause);
  }
}

type ConnectEvent = [response: IncomingMessage, socket: Socket, head: Buffer];

function tunnelError(cause: unknown): unknown {
  if (cause instanceof IdleError) return cause;
  const what = failureCode(cause).startsWith('HPE_') ? 'does not answer in HTTP' : 'closed the connection';
  return new TunnelError(what, { cause });
}

function proxyAuthorization({ username, password }: URL): Readonly<Record<string, string>> {
  if (!username && !password) return {};
  const credentials = Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`).toString(
    'base64',
  );
  return { 'proxy-authorization': `Basic ${credentials}` };
}
