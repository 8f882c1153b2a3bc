import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import { isExcepted } from '../address.ts';
import { ProxyError, ProxyRefusal } from './failure.ts';
import { type Answer, ResponseStream } from './response-stream.ts';

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
  const { proxyAuthorization, tunnelThrough } = await import('./proxy.ts');
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
