import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { type Engine, EngineError, type Utterance } from './engine.ts';
import { openSpeaker, type TimedSpeech } from './flite.ts';
import { compileFlite, type FliteProgram } from './flite-program.ts';
import { type FliteTask, fliteTask } from './flite-voices.ts';
import { normalise } from './normalise.ts';
import { FairQueue, queuedEngine, type TaskMaker, type TaskRunner } from './queued-engine.ts';

/** A hang-up ends a thread; the spare one takes its place. */
const SPARE = 1;

/** The program of the threads, as it was built. */
export const FLITE_PROGRAM = new URL('worker.cjs', import.meta.url);

/**
 * The built-in voices.
 * @param runtime the version of Node
 * @param workers threads of a service, which all start before it begins; by default one for each core, as they are needed
 * @param program that of the threads
 */
export async function openBuiltIn(
  runtime: string,
  workers?: number,
  program = FLITE_PROGRAM,
): Promise<Engine> {
  const load = compiledOnce(runtime);
  const count = (workers ?? availableParallelism()) + SPARE;
  const threads = Array.from({ length: count }, () => new FliteThread(program, load));
  if (workers !== undefined) await Promise.all(threads.map((thread) => thread.prepare()));
  const [first, ...others] = threads;
  const lanes = workers === undefined && first ? [new LateThread(first, load), ...others] : threads;
  return queuedEngine(new FairQueue<FliteTask>(lanes, SPARE), fliteTasks);
}

/** It is spoken in 0.15 s, and in 0.5 s if all of it is spelled. Meanwhile the program does nothing else. */
const SHORT_TEXT = /^[^\d]{1,80}$/;

/**
 * The program itself does its first task, if that is short, and often there is no other one: a thread takes 45 ms to start, and
 * a short sentence 40 ms to speak.
 */
class LateThread implements TaskRunner<FliteTask> {
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

/** All threads share the program, which is compiled with the first call. */
export function compiledOnce(runtime?: string): () => Promise<FliteProgram> {
  let program: Promise<FliteProgram> | undefined;
  return () => {
    program ??= compileFlite(runtime);
    return program;
  };
}

/** Milliseconds in which the next task has the processor. */
const BEFORE_REPLACING = 100;

/** Milliseconds: the end of a short task costs less than a new thread. */
const GRACE = 250;

/** How an utterance becomes tasks of the threads. */
export function fliteTasks(voice: Pick<Utterance, 'no' | 'style'>): TaskMaker<FliteTask> {
  return {
    normalise,
    task: (text, finish) => fliteTask(voice, text, finish),
    complaint: 'The built-in voice speaks English only, and there is nothing in this text that it could read',
  };
}

/** Flite cannot be interrupted: {@link GRACE} after the signal, another thread takes its place. */
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

  /** Speaks, and tells when each word is said. */
  runTimed(task: FliteTask, signal: AbortSignal): Promise<TimedSpeech> {
    return this.#ask<TimedSpeech>({ ...task, isTimed: true }, signal);
  }

  async #ask<Answer>(task: FliteTask, signal: AbortSignal): Promise<Answer> {
    const worker = await this.#start().catch(fail);
    signal.throwIfAborted();
    worker.ref();
    worker.postMessage(task);
    try {
      return (await answer(worker, signal)) as Answer;
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

  /** The system may have no room for a thread. Then this task fails, and the next one tries again. */
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
    const equipped = this.#load().then((program) => worker.postMessage(program));
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

  #rest(worker: Worker): void {
    if (!this.#closed) worker.unref();
  }

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

async function answer(worker: Worker, signal?: AbortSignal): Promise<unknown> {
  const waiting = new AbortController();
  const stop = () => setTimeout(() => waiting.abort(), GRACE).unref();
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
