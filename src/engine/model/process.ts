import type { Writable } from 'node:stream';
import { Child, type Exit } from '../../files/child.ts';
import { printable } from '../../printable.ts';
import { EngineError } from '../contract.ts';
import { SoundBudget, SoundQueue } from '../sound-queue.ts';
import { type Report, readFrames, writeFrame } from './frames.ts';

export interface ProcessOptions {
  readonly name: string;
  readonly command: readonly [string, string];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: object;
  /** The folder from which paths count. */
  readonly cwd?: string;
  /** Folders with a `node_modules` in which the runtime may lie, besides that of this program. */
  readonly runtimes?: readonly string[];
}

export interface ModelUtterance {
  readonly text: string;
  readonly options: object;
  readonly reference?: string | undefined;
}

/** The bound holds for all texts of one process together. More sound waits on its side. */
const MOST_WAITING_BYTES = 16 * 2 ** 20;

export class ModelProcess {
  /** @throws EngineError */
  readonly loaded: Promise<{ readonly sampleRate: number; readonly voices: number }>;
  begun = 0;
  readonly #name: string;
  readonly #child: Child;
  readonly #open = new Map<number, SoundQueue>();
  readonly #budget = new SoundBudget(MOST_WAITING_BYTES);
  readonly #closing = new AbortController();
  #exit: Exit | undefined;
  #fault: Error | undefined;

  constructor({ name, command, env, config, cwd, runtimes = [] }: ProcessOptions) {
    this.#name = name;
    const [program, file] = command;
    this.#child = new Child(program, [file], { env, cwd, stdin: 'ignore', stdout: 'ignore', pipes: 2 });
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
    const sound = new SoundQueue(this.#budget, AbortSignal.any([signal, this.#closing.signal]));
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

  async #read(): Promise<{ sampleRate: number; voices: number }> {
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
  async #listen(
    onLoaded: (loaded: { sampleRate: number; voices: number }) => void,
    onFault: (error: EngineError) => void,
  ): Promise<void> {
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
