/** Runs models of sherpa-onnx in processes of their own, so that a crash of the native code does not end this one. */
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Child, type Exit } from '../kit/program.ts';
import { BoundedQueue, ByteBudget } from '../kit/queue.ts';
import { printable } from '../kit/words.ts';
import { EngineError } from './engine.ts';
import { type Report, readFrames, writeFrame } from './model-frames.ts';

export interface ModelOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
  /** Folders with a `node_modules` that may hold the runtime, in addition to the one of this program. */
  readonly runtimes: readonly string[];
}

interface ModelLaunch extends ModelOptions {
  readonly name: string;
  /** The settings for sherpa-onnx, with paths relative to `cwd`. */
  readonly config: object;
  readonly cwd: string;
}

export interface Loaded {
  /** Hz. */
  readonly sampleRate: number;
  /** The number of voices; models with a single one may report 0. */
  readonly voices: number;
}

/** The path of the built program that loads models. */
function modelProgram(): string {
  return fileURLToPath(new URL('model.mjs', import.meta.url));
}

interface ModelUtterance {
  readonly text: string;
  readonly options: object;
  readonly reference?: string | undefined;
}

/** Bytes of unread sound for all texts of one process together; beyond them, the process has to wait. */
const MOST_UNREAD_BYTES = 16 * 2 ** 20;

/** A process that has loaded a model, and speaks several texts at once. */
export class ModelProcess {
  /** Resolves when the model is loaded. @throws EngineError */
  readonly loaded: Promise<Loaded>;
  /** The number of utterances so far. */
  begun = 0;
  readonly #name: string;
  readonly #child: Child;
  readonly #open = new Map<number, BoundedQueue<Int16Array>>();
  readonly #budget = new ByteBudget(MOST_UNREAD_BYTES);
  readonly #closing = new AbortController();
  #exit: Exit | undefined;
  #fault: Error | undefined;

  constructor({ name, execPath, env, config, cwd, runtimes }: ModelLaunch, program = modelProgram()) {
    this.#name = name;
    this.#child = new Child(execPath, [program], { env, cwd, stdin: 'ignore', stdout: 'ignore', pipes: 2 });
    this.#orders.on('error', () => {});
    this.loaded = this.#read();
    this.loaded.then(() => this.#unrefIdle()).catch(() => this.#child.end());
    writeFrame(this.#orders, { type: 'load', config, runtimes });
  }

  get isDead(): boolean {
    return this.#exit !== undefined;
  }

  /** @throws EngineError */
  async *speak(utterance: ModelUtterance, signal: AbortSignal): AsyncGenerator<Int16Array> {
    signal.throwIfAborted();
    this.begun += 1;
    const id = this.begun;
    const sound = new BoundedQueue<Int16Array>(this.#budget, AbortSignal.any([signal, this.#closing.signal]));
    if (this.#exit) throw this.#crashError(this.#exit);
    this.#open.set(id, sound);
    this.#child.keepAlive('ref');
    const cancel = () => {
      writeFrame(this.#orders, { type: 'cancel', id });
      sound.end(signal.reason);
    };
    signal.addEventListener('abort', cancel, { once: true });
    writeFrame(this.#orders, {
      type: 'speak',
      id,
      text: utterance.text,
      options: utterance.options,
      ...(utterance.reference !== undefined && { reference: utterance.reference }),
    });
    try {
      yield* sound.read();
    } finally {
      signal.removeEventListener('abort', cancel);
      if (!sound.isEnded) writeFrame(this.#orders, { type: 'cancel', id });
      this.#open.delete(id);
      this.#unrefIdle();
    }
  }

  /** Lets the process end after the utterances that it is speaking. */
  retire(): void {
    this.#orders.end();
  }

  async end(): Promise<void> {
    if (this.isDead) return;
    this.#child.keepAlive('ref');
    this.#closing.abort(new Error('the process is closed'));
    this.#child.end();
    await this.#child.closed;
  }

  get #orders(): Writable {
    return this.#child.pipe(3);
  }

  /** Keeps an idle process from keeping this one alive. */
  #unrefIdle(): void {
    if (this.#open.size === 0) this.#child.keepAlive('unref');
  }

  async #read(): Promise<Loaded> {
    return new Promise((resolve, reject) => {
      void this.#listen(resolve, reject)
        .catch((error) => {
          this.#fault = error;
          this.#child.end();
        })
        // The last output may arrive after the exit.
        .then(() => this.#child.closed)
        .then((exit) => {
          this.#exit = exit;
          reject(this.#crashError(exit));
          for (const sound of this.#open.values()) sound.end(this.#crashError(exit));
        });
    });
  }

  /** Passes reports on. A text that is not read blocks the others only when the unread sound exceeds the budget. */
  async #listen(onLoaded: (loaded: Loaded) => void, onFault: (error: EngineError) => void): Promise<void> {
    for await (const report of readFrames<Report>(this.#child.pipe(4))) {
      if (report.type === 'loaded') onLoaded(report);
      else if (report.type === 'samples') await this.#pass(report);
      else if (report.type === 'end') this.#open.get(report.id)?.end();
      else if (report.type === 'found') continue;
      else if (report.id === undefined) onFault(this.#errorOf(report.message));
      else this.#open.get(report.id)?.end(this.#errorOf(report.message));
    }
  }

  /** Passes samples on, or drops them if the reader of the text has left. */
  async #pass({ id, samples }: Extract<Report, { type: 'samples' }>): Promise<void> {
    await this.#open
      .get(id)
      ?.push(samples)
      .catch(() => {});
  }

  #crashError({ status, signal, failure = this.#fault }: Exit): EngineError {
    const last = failure?.message ?? this.#child.lastWords;
    return this.#errorOf(`its process ended with ${signal ?? `status ${status}`}${last && `: ${last}`}`);
  }

  #errorOf(message: string): EngineError {
    return new EngineError('failed', `${this.#name}: ${printable(message)}`);
  }
}

/** Utterances after which a process is replaced, since the memory of onnxruntime grows with each. */
const MOST_UTTERANCES = 500;

/** Crashes in a row after which the process is not started again. */
const MOST_CRASHES = 3;

/** Keeps one process of a model running, and restarts it after a crash. */
export class ProcessKeeper {
  readonly #model: ModelLaunch;
  #process: ModelProcess | undefined;
  #crashes = 0;
  #lastCrash: unknown;

  constructor(model: ModelLaunch) {
    this.#model = model;
  }

  open(): Promise<Loaded> {
    return this.#current().loaded;
  }

  /** @throws RangeError for an unknown speaker, in whose place sherpa-onnx would silently use another one */
  async *speak(
    utterance: ModelUtterance & { readonly sid: number },
    signal: AbortSignal,
  ): AsyncGenerator<Int16Array> {
    const child = this.#current();
    try {
      const { voices } = await child.loaded;
      const { sid } = utterance;
      if (sid < 0 || sid >= Math.max(1, voices)) throw new RangeError(`there is no voice ${sid}`);
      yield* child.speak(utterance, signal);
      this.#crashes = 0;
    } catch (error) {
      if (child.isDead) this.#noteCrash(child, error);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#process?.end();
  }

  /** The process for the next utterance. @throws EngineError after too many crashes */
  #current(): ModelProcess {
    if (this.#crashes >= MOST_CRASHES) throw this.#lastCrash;
    const old = this.#process;
    if (old && !old.isDead && old.begun < MOST_UTTERANCES) return old;
    if (old && !old.isDead) old.retire();
    this.#process = new ModelProcess(this.#model);
    return this.#process;
  }

  #noteCrash(process: ModelProcess, error: unknown): void {
    if (process !== this.#process) return;
    this.#process = undefined;
    this.#crashes += 1;
    this.#lastCrash =
      error instanceof EngineError && this.#crashes >= MOST_CRASHES
        ? new EngineError(
            'failed',
            `${error.message}; it ended ${MOST_CRASHES} times in a row and is not started again`,
          )
        : error;
  }
}

interface ProbeOptions extends ModelOptions {
  /** The program that loads models. */
  readonly program?: string | undefined;
  /** True to look also in the folder in which this program is installed. */
  readonly looksBeside: boolean;
}

/** Tries to load the runtime in a child process, since an incompatible library may crash its process without a message. */
export async function probeRuntime(
  { env, execPath, program = modelProgram(), runtimes, looksBeside }: ProbeOptions,
  signal: AbortSignal,
): Promise<
  { readonly name: string; readonly fault?: never } | { readonly name?: never; readonly fault: string }
> {
  const child = new Child(execPath, [program], { env, stdin: 'ignore', stdout: 'ignore', pipes: 2, signal });
  const orders = child.pipe(3).on('error', () => {});
  writeFrame(orders, { type: 'probe', runtimes, looksBeside });
  let fault = '';
  for await (const report of readFrames<Report>(child.pipe(4))) {
    if (report.type === 'found') {
      child.end();
      return { name: report.runtime };
    }
    if (report.type === 'error') fault = report.message;
    orders.end();
  }
  const { status, signal: ended } = await child.spoken();
  signal.throwIfAborted();
  const last =
    fault.split('\n')[0] || child.lastWords || `its process ended with ${ended ?? `status ${status}`}`;
  return { fault: printable(last) };
}
