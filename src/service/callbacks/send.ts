import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type OutgoingHttpHeaders, request as requestHttp } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { singleItem } from '../../async.ts';
import { wavHeader } from '../../audio/wav-header.ts';
import type { Refusal } from '../http/refusal.ts';
import { errorBody } from '../http/refuse.ts';
import { type Sound, type StoredSound, storeSound } from '../http/stored-sound.ts';
import { ClosedAddress, isClosedHost, publicLookup } from './public-address.ts';

export interface CallbackBody extends StoredSound {
  readonly type: 'audio/wav' | 'application/json';
}

/** @throws the reason of an abort */
export async function callbackBody(
  sound: Promise<Sound>,
  signal: AbortSignal,
  refusalFor: (error: unknown) => Refusal,
): Promise<CallbackBody> {
  try {
    return await wav(await sound, signal);
  } catch (error) {
    signal.throwIfAborted();
    return json(errorBody(refusalFor(error)));
  }
}

/** The signature is HMAC-SHA256 in lower-case hexadecimal. */
export async function signatureOf(body: CallbackBody, key: string): Promise<string> {
  const hmac = createHmac('sha256', key);
  for await (const piece of body.read()) hmac.update(piece);
  return hmac.digest('hex');
}

async function wav({ format, pcm }: Sound, signal: AbortSignal): Promise<CallbackBody> {
  const stored = await storeSound(pcm);
  if (signal.aborted) await stored.dispose();
  signal.throwIfAborted();
  const header = wavHeader(format, stored.bytes);
  async function* read() {
    yield header;
    yield* stored.read();
  }
  return { ...stored, type: 'audio/wav', bytes: header.length + stored.bytes, read };
}

function json(value: unknown): CallbackBody {
  const bytes = Buffer.from(JSON.stringify(value));
  return {
    type: 'application/json',
    bytes: bytes.length,
    read: () => singleItem(bytes),
    dispose: async () => {},
  };
}

export interface Post {
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  body(): AsyncIterable<Uint8Array>;
  readonly listed: boolean;
}

/**
 * A redirect is not followed.
 * @param time milliseconds
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
