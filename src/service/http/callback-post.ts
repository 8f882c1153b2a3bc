import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import { request as requestHttp } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { ClosedAddress, isClosedHost, publicLookup } from './public-address.ts';

export interface Post {
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  body(): AsyncIterable<Uint8Array>;
  /** The origin was listed by the operator: any address will do. */
  readonly listed: boolean;
}

/**
 * Sends a body over a connection of its own and returns the status of the answer. Redirects are not followed.
 * @param time ms for all of it
 * @throws ClosedAddress before a connection to an address that is not public
 */
export async function post({ url, headers, body, listed }: Post, time: number, stop: AbortSignal) {
  if (!listed && isClosedHost(url.hostname)) throw new ClosedAddress(url.hostname);
  const request = url.protocol === 'https:' ? (await import('node:https')).request : requestHttp;
  const outgoing = request(url, {
    method: 'POST',
    headers,
    agent: false,
    signal: stop,
    ...(!listed && { lookup: publicLookup }),
  });
  const timer = setTimeout(() => outgoing.destroy(new Error(`no answer within ${time} ms`)), time);
  try {
    const [[response]] = await Promise.all([once(outgoing, 'response'), pipeline(body(), outgoing)]);
    return response.statusCode as number;
  } finally {
    clearTimeout(timer);
    outgoing.destroy();
  }
}
