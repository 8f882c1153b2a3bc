import type { buildConnector, Dispatcher } from 'undici';
import connectMethod from 'undici/lib/api/api-connect.js';
import AnyDispatcher from 'undici/lib/dispatcher/dispatcher.js';
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import type { ProxyRoute } from './transport.ts';

// The agent opens its tunnels with a method that undici's front door gives to every dispatcher.
Object.assign(AnyDispatcher.prototype, { connect: connectMethod });

interface ProxiedOptions {
  readonly connections: number;
  readonly timeoutMs: number;
  /** For the hosts that are reached directly. */
  readonly connect: buildConnector.connector;
}

/**
 * A dispatcher through a proxy: for https a tunnel, for http the request itself, as curl does it. Nothing is read from
 * the environment here, although the agent's name says so: every setting of it is given.
 */
export function proxied(
  { url, except }: ProxyRoute,
  { connections, timeoutMs, connect }: ProxiedOptions,
): Dispatcher {
  return new EnvHttpProxyAgent({
    httpProxy: url.href,
    httpsProxy: url.href,
    noProxy: except,
    connections,
    connect,
    proxyTunnel: false,
    // To one of SOCKS, undici would speak TLS for no more than that this is there.
    ...(url.protocol !== 'socks5:' && { proxyTls: { timeout: timeoutMs } }),
    requestTls: { timeout: timeoutMs },
    ...credentials(url),
  });
}

/** By itself undici sends no user without a password, SOCKS gets both as they are written in the URL, and a bare `%` is an error. */
function credentials({ protocol, username, password }: URL) {
  if (!username && !password) return {};
  const user = decoded(username);
  const secret = decoded(password);
  if (protocol === 'socks5:') return { username: user, password: secret };
  return { token: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
