import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import { bareHost, originOf } from '../kit/address.ts';
import { usageError } from '../kit/error.ts';
import type { HttpClient } from '../kit/http/client.ts';
import { singleItem } from '../kit/wait.ts';
import { wavHeader } from '../sound/wav.ts';
import {
  errorBody,
  forClient,
  type Limits,
  type Log,
  Refusal,
  refusalOf,
  type Sound,
  type StoredSound,
  storeSound,
} from './http.ts';

/** RFC 4291, section 2.4, names this range. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

class ClosedAddress extends Error {
  override readonly name = 'ClosedAddress';
  constructor(host: string) {
    super(`${host} has no public address`);
  }
}

export function isClosedHost(hostname: string): boolean {
  const host = bareHost(hostname);
  if (isIP(host) === 0) return /(^|\.)localhost\.?$/i.test(host);
  return !isPublic(host);
}

/** It is false for shared addresses (RFC 6598) and for IPv4 within IPv6, too. */
function isPublic(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(globalUnicast);
}

/** It judges the address that is connected to: an earlier check could see another one. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '');
    const open = addresses.filter(({ address }) => isPublic(address));
    const [first] = open;
    if (first === undefined) return callback(new ClosedAddress(hostname), '');
    if (options.all) return callback(null, open);
    callback(null, first.address, first.family);
  });
};

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
async function signatureOf(body: CallbackBody, key: string): Promise<string> {
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

interface Message {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  body(): AsyncIterable<Uint8Array>;
}

const TRIES = 5;

export interface CallbackOptions {
  /** The key signs the bodies; null leaves them unsigned. */
  readonly apiKey: string | null;
  /** The operator listed these: their address may be a private one. */
  readonly origins: ReadonlySet<string>;
  readonly limits: Limits;
  readonly log: Log | undefined;
}

interface Outcome {
  readonly delivered: boolean;
  readonly tries: number;
  readonly reason?: string;
}

export class Callbacks {
  readonly #options: CallbackOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(options: CallbackOptions) {
    this.#options = options;
  }

  get pending(): number {
    return this.#running.size;
  }

  /** @throws Refusal 503 if too many are pending */
  accept(id: string, url: URL, speak: (signal: AbortSignal) => Promise<Sound>): void {
    if (this.pending >= this.#options.limits.callbacks) {
      throw new Refusal(503, 'too_many_callbacks', 'Too many callbacks are waiting', { retryAfter: 5 });
    }
    const callback = this.#run(id, url, speak(this.#stop.signal))
      .catch((error) => {
        if (!this.#stop.signal.aborted) this.#options.log?.({ event: 'defect', id, error });
      })
      .finally(() => this.#running.delete(callback));
    this.#running.add(callback);
  }

  /** Waits for the callbacks that are pending now. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  abort(): void {
    this.#stop.abort();
  }

  async #run(id: string, url: URL, sound: Promise<Sound>): Promise<void> {
    const { apiKey, log } = this.#options;
    const body = await callbackBody(sound, this.#stop.signal, (error) => {
      const known = forClient(error, id, this.#options);
      if (!(known instanceof Refusal)) log?.({ event: 'defect', id, error });
      return refusalOf(known);
    });
    try {
      const headers = {
        'Content-Type': body.type,
        'Content-Length': String(body.bytes),
        'X-Request-Id': id,
        ...(apiKey !== null && { 'X-Signature': await signatureOf(body, apiKey) }),
      };
      const outcome = await this.#deliver({ url, headers, body: () => body.read() });
      log?.({ event: 'callback', id, origin: url.origin, ...outcome });
    } finally {
      await body.dispose();
    }
  }

  async #deliver(message: Message): Promise<Outcome> {
    const { signal } = this.#stop;
    const { origins, limits } = this.#options;
    const isListed = origins.has(message.url.origin);
    if (!isListed && isClosedHost(message.url.hostname))
      return { delivered: false, tries: 1, reason: String(new ClosedAddress(message.url.hostname)) };
    const { HttpClient } = await import('../kit/http/client.ts');
    const lookup = isListed ? undefined : publicLookup;
    await using http = new HttpClient({ connections: 1, timeoutMs: limits.callbackTry, lookup });
    let wait = limits.callbackBackoff;
    for (let tries = 1; ; tries++, wait *= 2) {
      const { status, reason, final } = await this.#try(http, message);
      if (status !== undefined && status >= 200 && status < 300) return { delivered: true, tries };
      if (final || tries === TRIES) return { delivered: false, tries, reason };
      await sleep(wait * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }

  async #try(
    http: HttpClient,
    { url, headers, body }: Message,
  ): Promise<{ status?: number; reason: string; final?: boolean }> {
    const { callbackTry } = this.#options.limits;
    const late = AbortSignal.timeout(callbackTry);
    const done = new AbortController();
    try {
      const until = AbortSignal.any([this.#stop.signal, late, done.signal]);
      const { status } = await http.send(
        { method: 'POST', url, headers, body: Readable.from(body()) },
        until,
      );
      return { status, reason: `status ${status}` };
    } catch (error) {
      this.#stop.signal.throwIfAborted();
      const reason = late.aborted ? `no answer within ${callbackTry} ms` : String(error);
      return { reason, final: error instanceof ClosedAddress };
    } finally {
      done.abort();
    }
  }
}

export interface CallbackPolicy {
  /** The operator listed these: their address may be a private one. */
  readonly origins: ReadonlySet<string>;
  /** True lets every origin with a public address get sound. */
  readonly any: boolean;
}

/** @throws TtsError (usage) */
export function readCallbackPolicy(values: readonly string[], isLoopback: boolean): CallbackPolicy {
  const any = values.includes('*');
  if (any && !isLoopback) {
    throw usageError(
      '--callbacks "*" would let strangers send requests from this machine',
      'name the origins, as in --callbacks https://app.example.com, or listen on 127.0.0.1',
    );
  }
  return { origins: new Set(values.filter((value) => value !== '*').map(readOrigin)), any };
}

function readOrigin(value: string): string {
  const origin = originOf(value);
  if (origin !== undefined) return origin;
  const hint = value.includes('*')
    ? 'there are no patterns: name each origin; "*" alone stands for all public ones'
    : 'give an origin, as in https://app.example.com: no path, no password';
  throw usageError(`bad value for --callbacks: ${value}`, hint);
}

/**
 * @returns `undefined` if the audio belongs in the answer
 * @throws Refusal 403 for an origin that is not allowed, 422 for no URL
 */
export async function callbackTarget(
  value: string | undefined,
  request: IncomingMessage,
  policy: CallbackPolicy,
): Promise<URL | undefined> {
  if (value === undefined || value === '') return undefined;
  const field = 'callback_url';
  if (!URL.canParse(value)) throw new Refusal(422, 'invalid_field', `${field} is not a URL`, { field });
  const url = new URL(value);
  if (ownOrigins(request).includes(url.origin)) return undefined;
  if (policy.origins.has(url.origin) || (policy.any && (await mayBePublic(url)))) return url;
  throw new Refusal(403, 'callback_not_allowed', `Callbacks to ${url.origin} are not allowed`, { field });
}

async function mayBePublic({ hostname }: URL): Promise<boolean> {
  return !isClosedHost(hostname);
}

function ownOrigins({ headers }: IncomingMessage): readonly string[] {
  return [`http://${headers.host}`, headers.origin ?? '']
    .filter((origin) => URL.canParse(origin))
    .map((origin) => new URL(origin).origin);
}
