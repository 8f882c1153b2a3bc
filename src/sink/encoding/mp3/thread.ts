import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Mp3Order } from './worker.ts';

/** The worker thread that encodes one sound. */
export class Mp3Thread {
  readonly #worker: Worker;

  private constructor() {
    this.#worker = new Worker(new URL('mp3.cjs', import.meta.url), { name: 'mp3', execArgv: [] });
    this.#worker.on('error', () => {});
  }

  static async start(order: Mp3Order): Promise<Mp3Thread> {
    const thread = new Mp3Thread();
    try {
      await thread.#ask(order, []);
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /** @param pcm whole frames */
  encode(pcm: Uint8Array): Promise<Uint8Array> {
    // The piece may be shared, and may not be given away. `slice` of a Buffer would not copy it.
    const own = new Uint8Array(pcm);
    return this.#ask(own, [own.buffer]);
  }

  end(): Promise<Uint8Array> {
    return this.#ask('end', []);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(what: Mp3Order | Uint8Array | 'end', owned: ArrayBuffer[]): Promise<Uint8Array> {
    const over = new AbortController();
    const { signal } = over;
    const ended = once(this.#worker, 'exit', { signal }).then(() => {
      throw new Error('the thread of the encoder ended');
    });
    ended.catch(() => {});
    try {
      this.#worker.postMessage(what, owned);
      const answer = once(this.#worker, 'message', { signal });
      const [encoded] = await Promise.race([answer, ended]);
      return encoded as Uint8Array;
    } finally {
      over.abort();
    }
  }
}
