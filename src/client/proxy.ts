import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import type { buildConnector } from 'undici';
import { bareHost, percentDecoded } from '../address.ts';
import { IdleError } from '../idle.ts';
import { failureCode, ProxyError, ProxyRefusal, TunnelError } from './failure.ts';

interface TunnelLimits {
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Connects with CONNECT (RFC 9110, section 9.3.6). undici's ProxyAgent takes 70 ms to load, and tries again without end if a
 * proxy hangs up.
 */
export function tunnelThrough(proxy: URL, { timeout, signal }: TunnelLimits): buildConnector.connector {
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

export function proxyAuthorization({ username, password }: URL): Readonly<Record<string, string>> {
  if (!username && !password) return {};
  const credentials = Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`).toString(
    'base64',
  );
  return { 'proxy-authorization': `Basic ${credentials}` };
}
