import { isIP } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import connectMethod from 'undici/lib/api/api-connect.js';
import createConnector from 'undici/lib/core/connect.js';
import AnyDispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import Socks5Agent from 'undici/lib/dispatcher/socks5-proxy-agent.js';
import { bareHost } from '../address.ts';
import { codeOf, ProxyError, TunnelError } from './failure.ts';

// The agent opens its tunnels with a method that undici's front door gives to every dispatcher.
Object.assign(AnyDispatcher.prototype, { connect: connectMethod });

type Connector = buildConnector.connector;

interface ProxiedOptions {
  /** The service behind the proxy. */
  readonly service: URL;
  readonly connections: number;
  readonly timeoutMs: number;
  /** Sees each connection to the proxy. */
  readonly watched: (connector: Connector) => Connector;
}

/** A dispatcher through a proxy: for https a tunnel, for http the request itself, as curl does it; SOCKS5 for both. */
export function proxied(
  proxy: URL,
  { service, connections, timeoutMs, watched }: ProxiedOptions,
): Dispatcher {
  const tls = { timeout: timeoutMs };
  const toProxy = (open: Connector) => watched(reaching(proxy, open));
  if (proxy.protocol === 'socks5:') {
    const agent = new Socks5Agent(proxy, { ...user(proxy), connect: toProxy(createConnector(tls)) });
    // It looks for this in the requests alone, which its types do not know of.
    const limit: object = { connections };
    return agent.compose((dispatch) => (options, handler) => dispatch({ ...options, ...limit }, handler));
  }
  const isTunnel = service.protocol === 'https:' || proxy.protocol === 'https:';
  const poolOver = (own: (connector: Connector) => Connector) => (origin: string | URL, options: object) => {
    const { connect } = options as { connect: Connector };
    return new Pool(origin, { ...options, connections, connect: own(connect) });
  };
  return new ProxyAgent({
    uri: proxy.href,
    ...basic(proxy),
    proxyTunnel: false,
    proxyTls: tls,
    requestTls: tls,
    clientFactory: poolOver(toProxy),
    factory: poolOver(isTunnel ? throughTunnel : toProxy),
  });
}

/**
 * Connections to the proxy itself: of one that fails undici does not tell whose it was. And an address is no name of a
 * server (RFC 6066, section 3): Node 26 refuses it.
 */
function reaching({ host, hostname }: URL, open: Connector): Connector {
  const named = isIP(bareHost(hostname)) ? { servername: '' } : {};
  return (options, callback) =>
    open({ ...options, ...named }, (...[error, socket]) => {
      if (error) callback(new ProxyError(host, error), null);
      else callback(null, socket);
    });
}

/**
 * Where a proxy ends the connection instead of opening a tunnel, undici would ask it again at once, for ever; and of one
 * that answers in no HTTP it does not tell that it was the proxy.
 */
function throughTunnel(open: Connector): Connector {
  return (options, callback) =>
    open(options, (...[error, socket]) => {
      if (error) callback(inTunnel(error), null);
      else callback(null, socket);
    });
}

function inTunnel(error: Error): Error {
  const code = codeOf(error);
  if (code === 'UND_ERR_SOCKET') return new TunnelError('closed the connection', { cause: error });
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW')
    return new TunnelError('does not answer in HTTP', { cause: error });
  return error;
}

/** By itself undici sends no user without a password, and takes a bare `%` for an error. */
function basic(proxy: URL): { token?: string } {
  const { username = '', password = '' } = user(proxy);
  if (!username && !password) return {};
  return { token: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
}

/** By itself undici sends to SOCKS what is written in the URL. */
function user({ username, password }: URL): { username?: string; password?: string } {
  return username || password ? { username: decoded(username), password: decoded(password) } : {};
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
