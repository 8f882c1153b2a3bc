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
  /** Folders with a `node_modules` in which the runtime may lie, besides that of this program. */
  readonly runtimes: readonly string[];
}

interface ModelLaunch extends ModelOptions {
  readonly name: string;
  /** What sherpa-onnx is given. Its paths count from the folder `cwd`. */
  readonly config: object;
  readonly cwd: string;
}

export interface Loaded {
  /** Hz. */
  readonly sampleRate: number;
  /** Models of a single voice may say 0. */
  readonly voices: number;
}

/** The program that loads models, as it was built. */
function modelProgram(): string {
  return fileURLToPath(new URL('model.mjs', import.meta.url));
}

interface ModelUtterance {
  readonly text: string;
  readonly options: object;
  readonly reference?: string | undefined;
}

/** The bound holds for all texts of one process together. More sound waits on its side. */
const MOST_WAITING_BYTES = 16 * 2 ** 20;

export class ModelProcess {
  /** @throws EngineError */
  readonly loaded: Promise<Loaded>;
  begun = 0;
  readonly #name: string;
  readonly #child: Child;
  readonly #open = new Map<number, BoundedQueue<Int16Array>>();
  readonly #budget = new ByteBudget(MOST_WAITING_BYTES);
  readonly #closing = new AbortController();
  #exit: Exit | undefined;
  #fault: Error | undefined;

  constructor({ name, execPath, env, config, cwd, runtimes }: ModelLaunch, program = modelProgram()) {
    this.#name = name;
    this.#child = new Child(execPath, [program], { env, cwd, stdin: 'ignore', stdout: 'ignore', pipes: 2 });
    this.#orders.on('error', () => {});
    this.loaded = this.#read();
    this.loaded.then(() => this.#rest()).catch(() => this.#child.end());
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
    if (this.#exit) throw this.#died(this.#exit);
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
      this.#rest();
    }
  }

  /** The process ends after its utterances in work. */
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

  /** An idle process does not keep this one alive. */
  #rest(): void {
    if (this.#open.size === 0) this.#child.keepAlive('unref');
  }

  async #read(): Promise<Loaded> {
    return new Promise((resolve, reject) => {
      void this.#listen(resolve, reject)
        .catch((error) => {
          this.#fault = error;
          this.#child.end();
        })
        // The last words arrive after the exit.
        .then(() => this.#child.closed)
        .then((exit) => {
          this.#exit = exit;
          reject(this.#died(exit));
          for (const sound of this.#open.values()) sound.end(this.#died(exit));
        });
    });
  }

  /** A text whose reader rests may hold up the others, but only when more than the budget waits. */
  async #listen(onLoaded: (loaded: Loaded) => void, onFault: (error: EngineError) => void): Promise<void> {
    for await (const report of readFrames<Report>(this.#child.pipe(4))) {
      if (report.type === 'loaded') onLoaded(report);
      else if (report.type === 'samples') await this.#pass(report);
      else if (report.type === 'end') this.#open.get(report.id)?.end();
      else if (report.type === 'found') continue;
      else if (report.id === undefined) onFault(this.#failed(report.message));
      else this.#open.get(report.id)?.end(this.#failed(report.message));
    }
  }

  /** Samples of a text whose reader has left are dropped. */
  async #pass({ id, samples }: Extract<Report, { type: 'samples' }>): Promise<void> {
    await this.#open
      .get(id)
      ?.push(samples)
      .catch(() => {});
  }

  #died({ status, signal, failure = this.#fault }: Exit): EngineError {
    const last = failure?.message ?? this.#child.lastWords;
    return this.#failed(`its process ended with ${signal ?? `status ${status}`}${last && `: ${last}`}`);
  }

  #failed(message: string): EngineError {
    return new EngineError('failed', `${this.#name}: ${printable(message)}`);
  }
}

/** onnxruntime's memory grows with each utterance. */
const MOST_UTTERANCES = 500;

/** After this number of deaths in a row, the process is not started again. */
const MOST_DEATHS = 3;

/** Keeps one process of a model running, and starts it again when it has died. */
export class ProcessKeeper {
  readonly #model: ModelLaunch;
  #process: ModelProcess | undefined;
  #deaths = 0;
  #lastDeath: unknown;

  constructor(model: ModelLaunch) {
    this.#model = model;
  }

  open(): Promise<Loaded> {
    return this.#current().loaded;
  }

  /** @param utterance its speaker must exist: sherpa-onnx takes another one for an unknown one */
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
      this.#deaths = 0;
    } catch (error) {
      if (child.isDead) this.#noteDeath(child, error);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#process?.end();
  }

  /** @throws EngineError after too many deaths */
  #current(): ModelProcess {
    if (this.#deaths >= MOST_DEATHS) throw this.#lastDeath;
    const old = this.#process;
    if (old && !old.isDead && old.begun < MOST_UTTERANCES) return old;
    if (old && !old.isDead) old.retire();
    this.#process = new ModelProcess(this.#model);
    return this.#process;
  }

  #noteDeath(process: ModelProcess, error: unknown): void {
    if (process !== this.#process) return;
    this.#process = undefined;
    this.#deaths += 1;
    this.#lastDeath =
      error instanceof EngineError && this.#deaths >= MOST_DEATHS
        ? new EngineError(
            'failed',
            `${error.message}; it ended ${MOST_DEATHS} times in a row and is not started again`,
          )
        : error;
  }
}

interface ProbeOptions extends ModelOptions {
  /** The program that loads models. */
  readonly program?: string | undefined;
  /** False looks in the given folders only. */
  readonly isBeside: boolean;
}

/** Loads the runtime in a child: a library that does not fit may end its process at once, without a word. */
export async function probeRuntime(
  { env, execPath, program = modelProgram(), runtimes, isBeside }: ProbeOptions,
  signal: AbortSignal,
): Promise<
  { readonly name: string; readonly fault?: never } | { readonly name?: never; readonly fault: string }
> {
  const child = new Child(execPath, [program], { env, stdin: 'ignore', stdout: 'ignore', pipes: 2, signal });
  const orders = child.pipe(3).on('error', () => {});
  writeFrame(orders, { type: 'probe', runtimes, isBeside });
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
