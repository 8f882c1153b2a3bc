import { lookup } from 'node:dns/promises';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { bareHost } from '../address.ts';
import { unlessAborted } from '../async.ts';
import { IdleError } from '../idle.ts';
import { noAnswer, ProxyError } from './failure.ts';

export interface Probe {
  readonly url: URL;
  readonly isProxy?: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** @throws TtsError (connection, timeout) */
export async function lookUp({ url, timeoutMs, signal }: Probe): Promise<string[]> {
  try {
    const found = await unlessAborted(
      unlessLate(lookup(bareHost(url.hostname), { all: true }), timeoutMs),
      signal,
    );
    return found.map(({ address }) => address);
  } catch (cause) {
    throw noAnswer(cause, url, timeoutMs);
  }
}

/** @throws TtsError (connection, timeout) */
export async function reach(probe: Probe): Promise<void> {
  const socket = tcpConnect({ host: bareHost(probe.url.hostname), port: portOf(probe.url) });
  await opened(socket, 'connect', probe, () => undefined);
}

/**
 * @returns the protocol, as in `TLSv1.3`, and the last day of the certificate
 * @throws TtsError (connection, timeout)
 */
export async function handshake(probe: Probe): Promise<{ protocol: string; until: string }> {
  const host = bareHost(probe.url.hostname);
  const socket = tlsConnect({ host, port: portOf(probe.url), ...(!isIP(host) && { servername: host }) });
  return opened(socket, 'secureConnect', probe, () => ({
    protocol: socket.getProtocol() ?? 'TLS',
    until: new Date(socket.getPeerCertificate().valid_to).toISOString().slice(0, 10),
  }));
}

function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

function unlessLate<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new IdleError('idle')), limitMs).unref();
    void promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function opened<T>(
  socket: Socket,
  event: string,
  { url, isProxy, timeoutMs, signal }: Probe,
  look: () => T,
): Promise<T> {
  const connected = new Promise<void>((resolve, reject) => {
    socket.once(event, resolve).on('error', reject);
    socket.setTimeout(timeoutMs, () => reject(new IdleError('idle')));
  });
  return unlessAborted(connected, signal)
    .then(look)
    .catch((cause) => {
      throw noAnswer(isProxy ? new ProxyError(url.host, cause) : cause, url, timeoutMs);
    })
    .finally(() => socket.destroy());
}
