/** The built-in voices, spoken by worker threads. */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { loadOnce } from '../kit/wait.ts';
import { type Engine, EngineError, type EngineUtterance } from './engine.ts';
import { openSpeaker, type TimedSpeech } from './flite.ts';
import { compileFlite, type FliteProgram } from './flite-program.ts';
import { type FliteTask, fliteTask } from './flite-voices.ts';
import { normalise } from './normalise.ts';
import { FairQueue, queuedEngine, type TaskMaker, type TaskRunner } from './queued-engine.ts';

/** A cancelled task ends its thread; the spare thread takes over at once. */
const SPARE_THREADS = 1;

/** The built program of the worker threads. */
export const FLITE_WORKER = new URL('worker.cjs', import.meta.url);

/**
 * Opens the built-in voices.
 * @param runtime the version of Node
 * @param workers threads of a service, all started before it begins; by default one per core, each started when it is needed
 * @param worker the program of the threads
 */
export async function openBuiltIn(runtime: string, workers?: number, worker = FLITE_WORKER): Promise<Engine> {
  const load = compileOnce(runtime);
  const count = (workers ?? availableParallelism()) + SPARE_THREADS;
  const threads = Array.from({ length: count }, () => new FliteThread(worker, load));
  if (workers !== undefined) await Promise.all(threads.map((thread) => thread.prepare()));
  const [first, ...others] = threads;
  const runners = workers === undefined && first ? [new LazyThread(first, load), ...others] : threads;
  return queuedEngine(new FairQueue<FliteTask>(runners, SPARE_THREADS), fliteTasks);
}

/** Text short enough for the main thread, which it blocks for 0.15 s, or 0.5 s if all of it is spelled out. */
const SHORT_TEXT = /^[^\d]{1,80}$/;

/**
 * Runs the first task on the main thread if it is short, and starts a thread only for later ones. Often there are none, and
 * starting a thread takes 45 ms, speaking a short sentence 40 ms.
 */
class LazyThread implements TaskRunner<FliteTask> {
  readonly #thread: FliteThread;
  #speaker: ReturnType<typeof openSpeaker> | undefined;

  constructor(thread: FliteThread, load: () => Promise<FliteProgram>) {
    this.#thread = thread;
    this.#speaker = load().then(openSpeaker);
    // The first task reports the error.
    this.#speaker.catch(() => {});
  }

  get ready(): boolean {
    return this.#thread.ready;
  }

  async run(task: FliteTask, signal: AbortSignal): Promise<Int16Array> {
    const speaker = this.#speaker;
    this.#speaker = undefined;
    if (!speaker || !SHORT_TEXT.test(task.text)) return this.#thread.run(task, signal);
    const speak = await speaker.catch(fail);
    signal.throwIfAborted();
    try {
      return speak(task) as Int16Array;
    } catch (error) {
      return fail(error);
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

/** @returns a function that compiles the program at its first call, for all threads to share */
export function compileOnce(runtime?: string): () => Promise<FliteProgram> {
  return loadOnce(() => compileFlite(runtime));
}

/** Milliseconds to wait before a new thread is started, so that the next task has the processor first. */
const REPLACE_AFTER_MS = 100;

/** Milliseconds that a cancelled task may take to finish: for a short one, waiting costs less than a new thread. */
const GRACE_MS = 250;

/** Turns an utterance into tasks for the threads. */
export function fliteTasks(voice: Pick<EngineUtterance, 'no' | 'style'>): TaskMaker<FliteTask> {
  return {
    normalise,
    task: (text, finish) => fliteTask(voice, text, finish),
    complaint: 'The built-in voice speaks English only, and there is nothing in this text that it could read',
  };
}

/** A thread that speaks. Flite cannot be interrupted, so {@link GRACE_MS} after a cancel, a new thread replaces this one. */
export class FliteThread implements TaskRunner<FliteTask> {
  readonly #file: URL;
  readonly #load: () => Promise<FliteProgram>;
  #worker: Worker | undefined;
  #booted: Promise<Worker> | undefined;
  #ready = false;
  #closed = false;

  constructor(file: URL, load: () => Promise<FliteProgram>) {
    this.#file = file;
    this.#load = load;
  }

  get ready(): boolean {
    return this.#ready;
  }

  async prepare(): Promise<void> {
    await this.#start();
  }

  run(task: FliteTask, signal: AbortSignal): Promise<Int16Array> {
    return this.#ask<Int16Array>(task, signal);
  }

  /** Speaks, and reports when each word is said. */
  runTimed(task: FliteTask, signal: AbortSignal): Promise<TimedSpeech> {
    return this.#ask<TimedSpeech>({ ...task, isTimed: true }, signal);
  }

  async #ask<Answer>(task: FliteTask, signal: AbortSignal): Promise<Answer> {
    const worker = await this.#start().catch(fail);
    signal.throwIfAborted();
    worker.ref();
    worker.postMessage(task);
    try {
      return (await nextMessage(worker, signal)) as Answer;
    } catch (error) {
      this.#replace(worker);
      signal.throwIfAborted();
      return fail(error);
    } finally {
      this.#unrefIdle(worker);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  /** If the system has no room for a thread, this task fails, and the next one tries again. */
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
    const { Worker } = await import('node:worker_threads');
    if (this.#closed) throw new Error('the engine is closed');
    const worker = new Worker(this.#file, { name: 'speech', execArgv: [] });
    this.#worker = worker;
    worker.on('error', () => {});
    worker.once('exit', () => this.#replace(worker));
    const programSent = this.#load().then((program) => worker.postMessage(program));
    try {
      await Promise.all([programSent, nextMessage(worker)]);
    } catch (error) {
      this.#replace(worker);
      throw error;
    }
    this.#ready = true;
    this.#unrefIdle(worker);
    return worker;
  }

  /** Lets the process end while the thread is idle. */
  #unrefIdle(worker: Worker): void {
    if (!this.#closed) worker.unref();
  }

  /** Ends a thread, and starts another one if it had been ready. */
  #replace(worker: Worker): void {
    if (worker !== this.#worker) return;
    void worker.terminate();
    const again = this.#ready && !this.#closed;
    this.#worker = undefined;
    this.#booted = undefined;
    this.#ready = false;
    if (again) setTimeout(() => this.#start().catch(() => {}), REPLACE_AFTER_MS).unref();
  }
}

/** Waits for a message of the thread, for {@link GRACE_MS} after a cancel at most. */
async function nextMessage(worker: Worker, signal?: AbortSignal): Promise<unknown> {
  const waiting = new AbortController();
  const stop = () => setTimeout(() => waiting.abort(), GRACE_MS).unref();
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
  throw new EngineError('broken', `The voice failed: ${reason}`);
}
