import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../http/exchange.ts';
import { type Limits, Refusal, refusalOf } from '../http/refusal.ts';
import { forClient } from '../http/refuse.ts';
import type { Sound } from '../http/stored-sound.ts';
import type { Post } from './send.ts';

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
    const { apiKey, origins, log } = this.#options;
    const { callbackBody, signatureOf } = await import('./send.ts');
    const body = await callbackBody(sound, this.#stop.signal, (error) => {
      const known = forClient(error, id, this.#options);
      if (!(known instanceof Refusal)) log?.({ event: 'defect', id, error });
      return refusalOf(known);
    });
    try {
      const headers = {
        'Content-Type': body.type,
        'Content-Length': body.bytes,
        'X-Request-Id': id,
        ...(apiKey !== null && { 'X-Signature': await signatureOf(body, apiKey) }),
      };
      const listed = origins.has(url.origin);
      const outcome = await this.#deliver({ url, headers, listed, body: () => body.read() });
      log?.({ event: 'callback', id, origin: url.origin, ...outcome });
    } finally {
      await body.dispose();
    }
  }

  async #deliver(message: Post): Promise<Outcome> {
    const { signal } = this.#stop;
    let wait = this.#options.limits.callbackBackoff;
    for (let tries = 1; ; tries++, wait *= 2) {
      const { status, reason, final } = await this.#try(message);
      if (status !== undefined && status >= 200 && status < 300) return { delivered: true, tries };
      if (final || tries === TRIES) return { delivered: false, tries, reason };
      await sleep(wait * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }

  async #try(message: Post): Promise<{ status?: number; reason: string; final?: boolean }> {
    const { post } = await import('./send.ts');
    const { ClosedAddress } = await import('./public-address.ts');
    try {
      const status = await post(message, this.#options.limits.callbackTry, this.#stop.signal);
      return { status, reason: `status ${status}` };
    } catch (error) {
      this.#stop.signal.throwIfAborted();
      return { reason: String(error), final: error instanceof ClosedAddress };
    }
  }
}
