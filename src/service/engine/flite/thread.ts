import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Assets } from '../assets.ts';
import { Refusal } from '../contract.ts';
import type { Lane } from '../fair-queue.ts';
import type { Job } from './voices.ts';

/** Milliseconds in which the job that comes next has the processor for itself, on another thread. */
const BEFORE_REPLACING = 100;

/**
 * A worker thread with Flite in it. Flite cannot be interrupted, so to stop it is to end its thread; the next one
 * starts soon, as it does when a thread dies by itself. An idle thread does not keep the process alive.
 */
export class FliteThread implements Lane<Job> {
  readonly #file: URL;
  readonly #assets: Promise<Assets>;
  #worker: Worker | undefined;
  #booted: Promise<Worker> | undefined;
  #ready = false;
  #closed = false;

  /** @param file the built worker */
  constructor(file: URL, assets: Promise<Assets>) {
    this.#file = file;
    this.#assets = assets;
  }

  get ready(): boolean {
    return this.#ready;
  }

  async prepare(): Promise<void> {
    await this.#start();
  }

  async run(job: Job, signal: AbortSignal): Promise<Int16Array> {
    const worker = await this.#start().catch(fail);
    signal.throwIfAborted();
    worker.ref();
    worker.postMessage(job);
    try {
      return (await answer(worker, signal)) as Int16Array;
    } catch (error) {
      this.#replace(worker);
      signal.throwIfAborted();
      return fail(error);
    } finally {
      this.#rest(worker);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  /** What failed is forgotten: the system may have had no room for a thread just then. */
  #start(): Promise<Worker> {
    if (this.#booted) return this.#booted;
    const booted = this.#boot();
    this.#booted = booted;
    booted.catch(() => {
      if (this.#booted === booted) this.#booted = undefined;
    });
    return booted;
  }

  async #boot(): Promise<Worker> {
    if (this.#closed) throw new Error('the engine is closed');
    const worker = new Worker(this.#file, { name: 'speech', execArgv: [] });
    this.#worker = worker;
    worker.on('error', () => {}); // whoever waits for an answer hears of it, and the exit follows
    worker.once('exit', () => this.#replace(worker));
    const equipped = this.#assets.then((assets) => worker.postMessage(assets));
    try {
      await Promise.all([equipped, answer(worker)]);
    } catch (error) {
      this.#replace(worker);
      throw error;
    }
    this.#ready = true;
    this.#rest(worker);
    return worker;
  }

  /** But for one whose end is waited for: without it, nothing may be left to keep the process alive until then. */
  #rest(worker: Worker): void {
    if (!this.#closed) worker.unref();
  }

  /**
   * Ends a thread and starts another in its place: soon, or with the next job, which also reports why it cannot. One
   * that never became ready is not started again before there is a job: it would most likely end again.
   */
  #replace(worker: Worker): void {
    if (worker !== this.#worker) return;
    void worker.terminate();
    const again = this.#ready && !this.#closed;
    this.#worker = undefined;
    this.#booted = undefined;
    this.#ready = false;
    if (again) setTimeout(() => this.#start().catch(() => {}), BEFORE_REPLACING).unref();
  }
}

/**
 * @returns the next message
 * @throws what ended the thread before it; an AbortError
 */
async function answer(worker: Worker, signal?: AbortSignal): Promise<unknown> {
  const waiting = new AbortController();
  const stop = () => waiting.abort();
  signal?.addEventListener('abort', stop);
  const ended = once(worker, 'exit', { signal: waiting.signal }).then(() => {
    throw new Error('its thread ended');
  });
  try {
    const [message] = await Promise.race([once(worker, 'message', { signal: waiting.signal }), ended]);
    return message;
  } finally {
    signal?.removeEventListener('abort', stop);
    waiting.abort();
  }
}

function fail(cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new Refusal(500, 'engine_failed', `The voice failed: ${reason}`);
}
