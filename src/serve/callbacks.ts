/** Sends finished audio to the `callback_url` of a request, if `--callbacks` allows its origin. */
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { originOf } from '../kit/address.ts';
import { usageError } from '../kit/error.ts';
import type { HttpClient, HttpRequest } from '../kit/http/client.ts';
import { HttpError } from '../kit/http/route.ts';
import { delay, singleItem } from '../kit/wait.ts';
import type { Log } from './service.ts';
import { type Sound, type StoredSound, storeWav } from './sound.ts';

/** Times are in milliseconds. */
export interface CallbackLimits {
  /** Pending callbacks at most. */
  readonly callbacks: number;
  /** Timeout of one try. */
  readonly callbackTry: number;
  /** Wait after the first failed try; it doubles after each further one. */
  readonly callbackBackoff: number;
}

const TRIES = 5;

interface CallbackOptions {
  /** Signs the bodies; null leaves them unsigned. */
  readonly apiKey: string | null;
  /** Origins that may receive callbacks. */
  readonly origins: ReadonlySet<string>;
  readonly limits: CallbackLimits;
  readonly log: Log;
  /** Returns the JSON body to send if the speech failed. */
  errorBody(error: unknown, id: string): object;
}

interface Message extends StoredSound {
  readonly type: 'audio/wav' | 'application/json';
}

export interface CallbackOutcome {
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
   * @returns `undefined` if the audio belongs in the response: no URL, or the origin of the service or the calling page
   * @throws HttpError 403 for an origin that is not allowed, 422 for an invalid URL
   */
  targetOf(value: string | undefined, { host, origin: page }: IncomingHttpHeaders): URL | undefined {
    if (value === undefined || value === '') return undefined;
    const field = 'callback_url';
    if (!URL.canParse(value)) throw new HttpError(422, 'invalid_field', `${field} is not a URL`, { field });
    const url = new URL(value);
    const { origin } = url;
    const own = [originOf(`http://${host}`), page && originOf(page)];
    if (own.includes(origin)) return undefined;
    if (this.#options.origins.has(origin)) return url;
    throw new HttpError(403, 'callback_not_allowed', `Callbacks to ${origin} are not allowed`, { field });
  }

  /** Starts speaking and calls `url` with the result. @throws HttpError 503 if too many callbacks are pending */
  accept(id: string, url: URL, speak: (signal: AbortSignal) => Promise<Sound>): void {
    const { limits, log } = this.#options;
    if (this.pending >= limits.callbacks)
      throw new HttpError(503, 'too_many_callbacks', 'Too many callbacks are waiting', { retryAfter: 5 });
    const { signal } = this.#stop;
    const callback = this.#run(id, url, speak(signal))
      .catch((error) => {
        if (!signal.aborted) log({ event: 'defect', id, error });
      })
      .finally(() => this.#running.delete(callback));
    this.#running.add(callback);
  }

  /** Resolves when the callbacks that are pending now have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  abort(): void {
    this.#stop.abort();
  }

  async #run(id: string, url: URL, sound: Promise<Sound>): Promise<void> {
    const { apiKey, log } = this.#options;
    const message = await this.#messageOf(sound, id);
    try {
      this.#stop.signal.throwIfAborted();
      const headers = {
        'Content-Type': message.type,
        'Content-Length': String(message.bytes),
        'X-Request-Id': id,
        ...(apiKey !== null && { 'X-Signature': await signatureOf(message, apiKey) }),
      };
      const outcome = await this.#deliver({ method: 'POST', url, headers }, message);
      log({ event: 'callback', id, origin: url.origin, ...outcome });
    } finally {
      message.dispose();
    }
  }

  async #messageOf(sound: Promise<Sound>, id: string): Promise<Message> {
    try {
      return { ...(await storeWav(await sound)), type: 'audio/wav' };
    } catch (error) {
      this.#stop.signal.throwIfAborted();
      const bytes = Buffer.from(JSON.stringify(this.#options.errorBody(error, id)));
      return {
        type: 'application/json',
        bytes: bytes.length,
        read: () => singleItem(bytes),
        dispose: () => {},
      };
    }
  }

  async #deliver(request: HttpRequest, message: Message): Promise<CallbackOutcome> {
    const { callbackTry, callbackBackoff } = this.#options.limits;
    const { HttpClient } = await import('../kit/http/client.ts');
    await using http = new HttpClient({ connections: 1, timeoutMs: callbackTry });
    for (let tries = 1; ; tries += 1) {
      const reason = await this.#try(http, { ...request, body: Readable.from(message.read()) });
      if (reason === undefined) return { delivered: true, tries };
      if (tries === TRIES) return { delivered: false, tries, reason };
      const wait = callbackBackoff * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
      await delay(wait, this.#stop.signal);
    }
  }

  /** @returns the reason for a failure; `undefined` for a success */
  async #try(http: HttpClient, request: HttpRequest): Promise<string | undefined> {
    const { callbackTry } = this.#options.limits;
    const late = AbortSignal.timeout(callbackTry);
    const done = new AbortController();
    const until = AbortSignal.any([this.#stop.signal, late, done.signal]);
    try {
      const { status } = await http.send(request, until);
      return status >= 200 && status < 300 ? undefined : `status ${status}`;
    } catch (error) {
      this.#stop.signal.throwIfAborted();
      if (late.aborted) return `no answer within ${callbackTry} ms`;
      return error instanceof Error ? error.message : String(error);
    } finally {
      done.abort();
    }
  }
}

/** Returns the HMAC-SHA256 of the body in lower-case hexadecimal. */
async function signatureOf({ read }: StoredSound, key: string): Promise<string> {
  const hmac = createHmac('sha256', key);
  for await (const piece of read()) hmac.update(piece);
  return hmac.digest('hex');
}

/** Parses a value of `--callbacks`. @throws TtsError (usage) if it is not an origin */
export function callbackOrigin(value: string): string {
  const origin = originOf(value);
  if (origin !== undefined) return origin;
  const hint = value.includes('*')
    ? 'there are no patterns: name each origin'
    : 'give an origin, as in https://app.example.com: no path, no password';
  throw usageError(`bad value for --callbacks: ${value}`, hint);
}

/** OpenAPI description of the request that a `callback_url` receives. */
export const ABOUT_CALLBACKS = {
  audio: {
    '{$request.body#/callback_url}': {
      post: {
        operationId: 'receiveSpeech',
        summary: 'Receive the audio, or the error, of an accepted request',
        description:
          'Tried five times at most, until a status from 200 to 299 comes back. Redirects are not followed.',
        security: [],
        parameters: [
          {
            name: 'X-Request-Id',
            in: 'header',
            required: true,
            description: 'The `request_id` of the 202.',
            schema: { type: 'string' },
          },
          {
            name: 'X-Signature',
            in: 'header',
            description:
              'HMAC-SHA256 of the body, keyed with the API key, in lower-case hexadecimal. Absent when the service runs without a key.',
            schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
          },
        ],
        requestBody: {
          required: true,
          content: {
            'audio/wav': { schema: { type: 'string', contentMediaType: 'audio/wav' } },
            'application/json': { schema: { type: 'object', description: 'An error, as in an answer.' } },
          },
        },
        responses: {
          '2XX': { description: 'Received.' },
          '4XX': { description: 'Not received; tried again.' },
        },
      },
    },
  },
};
