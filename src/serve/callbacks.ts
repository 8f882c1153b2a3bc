/** Sends finished sound to a URL that a request names, if its origin is one of `--callbacks`. */
import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { originOf } from '../kit/address.ts';
import { usageError } from '../kit/error.ts';
import type { HttpClient } from '../kit/http/client.ts';
import { singleItem } from '../kit/wait.ts';
import { errorBody, type Limits, type Log, Refusal } from './http.ts';
import { forClient, refusalOf, type Sound, type StoredSound, storeWav } from './sound.ts';

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
    const wav = await storeWav(await sound);
    if (signal.aborted) await wav.dispose();
    signal.throwIfAborted();
    return { ...wav, type: 'audio/wav' };
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
  /** What may be called. */
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

  /**
   * @param value the `callback_url` of a request
   * @returns `undefined` if the audio belongs in the answer: without a URL, and for one of the service or the page itself
   * @throws Refusal 403 for an origin that is not allowed, 422 for no URL
   */
  targetOf(value: string | undefined, { headers }: IncomingMessage): URL | undefined {
    if (value === undefined || value === '') return undefined;
    const field = 'callback_url';
    if (!URL.canParse(value)) throw new Refusal(422, 'invalid_field', `${field} is not a URL`, { field });
    const url = new URL(value);
    const { origin } = url;
    if (
      [`http://${headers.host}`, headers.origin].some((own) => own !== undefined && originOf(own) === origin)
    )
      return undefined;
    if (this.#options.origins.has(origin)) return url;
    throw new Refusal(403, 'callback_not_allowed', `Callbacks to ${origin} are not allowed`, { field });
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
    const { limits } = this.#options;
    const { HttpClient } = await import('../kit/http/client.ts');
    await using http = new HttpClient({ connections: 1, timeoutMs: limits.callbackTry });
    let wait = limits.callbackBackoff;
    for (let tries = 1; ; tries++, wait *= 2) {
      const { status, reason } = await this.#try(http, message);
      if (status !== undefined && status >= 200 && status < 300) return { delivered: true, tries };
      if (tries === TRIES) return { delivered: false, tries, reason };
      await sleep(wait * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }

  async #try(
    http: HttpClient,
    { url, headers, body }: Message,
  ): Promise<{ status?: number; reason: string }> {
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
      return { reason: late.aborted ? `no answer within ${callbackTry} ms` : String(error) };
    } finally {
      done.abort();
    }
  }
}

/** @throws TtsError (usage) */
export function callbackOrigin(value: string): string {
  const origin = originOf(value);
  if (origin !== undefined) return origin;
  const hint = value.includes('*')
    ? 'there are no patterns: name each origin'
    : 'give an origin, as in https://app.example.com: no path, no password';
  throw usageError(`bad value for --callbacks: ${value}`, hint);
}
