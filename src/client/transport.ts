import type { buildConnector, Dispatcher } from 'undici';
import createConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { isExcepted } from '../address.ts';
import { feed } from './feed.ts';
import { Line } from './line.ts';
import { type Answer, Exchange } from './response-stream.ts';
import { intoSlabs } from './slabs.ts';
import { overAnother } from './stale.ts';

export interface ProxyRoute {
  readonly url: URL;
  /** Hosts to be reached directly: a list as in `NO_PROXY`. */
  readonly except: string;
}

export interface TransportOptions {
  readonly url: URL;
  /** Requests that may be open at once. */
  readonly connections: number;
  /** Longest silence before and within an answer. */
  readonly timeoutMs: number;
  readonly proxy?: ProxyRoute | undefined;
}

/** Bytes that a socket holds for its reader; what comes beyond is left to the system. */
const HIGH_WATER = 1 << 20;

type Headers = Readonly<Record<string, string>>;

/**
 * Sends requests to one address. Redirects are not followed. Nothing is sent again, but for what a kept connection lost
 * before a byte came back: see stale.ts.
 */
export interface Transport {
  /** @param sending called each time that the request is sent */
  post(body: string, headers: Headers, signal: AbortSignal, sending: () => void): Promise<Answer>;
  get(headers: Headers, signal: AbortSignal): Promise<Answer>;
  /** Ends what is still open. */
  close(): Promise<void>;
}

export async function createTransport(options: TransportOptions): Promise<Transport> {
  const { url, connections, timeoutMs } = options;
  const line = new Line();
  const dispatcher = await dispatcherFor(options, line);
  const send = (
    signal: AbortSignal,
    request: Pick<Dispatcher.DispatchOptions, 'method' | 'headers' | 'body'>,
    sending = () => {},
  ) => {
    const { origin, pathname: path } = url;
    return overAnother(() => {
      sending();
      const exchange = new Exchange(timeoutMs, line, signal);
      dispatcher.dispatch({ origin, path, headersTimeout: 0, bodyTimeout: 0, ...request }, exchange);
      return exchange.answer;
    }, connections);
  };
  return {
    post: (body, headers, signal, sending) => send(signal, { method: 'POST', headers, body }, sending),
    get: (headers, signal) => send(signal, { method: 'GET', headers }),
    async close() {
      line.close();
      await dispatcher.destroy();
    },
  };
}

async function dispatcherFor(
  { url, connections, proxy, timeoutMs }: TransportOptions,
  line: Line,
): Promise<Dispatcher> {
  const watched = line.watched.bind(line);
  if (!proxy || isExcepted(url, proxy.except))
    return new Pool(url.origin, { connections, connect: watched(connectorFor(url, timeoutMs)) });
  const { proxied } = await import('./proxied.ts');
  return proxied(proxy.url, { service: url, connections, timeoutMs, watched });
}

/** Sockets that are encrypted are read by others, who bring their own buffers. */
function connectorFor({ protocol }: URL, timeout: number): buildConnector.connector {
  if (protocol !== 'http:') return createConnector({ timeout });
  return (options, callback) => {
    const reading = { onread: intoSlabs(feed), highWaterMark: HIGH_WATER };
    return createConnector({ timeout, ...reading })(options, callback);
  };
}
