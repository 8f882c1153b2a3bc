import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { printable } from '../../printable.ts';
import { Refusal } from '../contract.ts';
import { SoundBudget, SoundQueue } from '../external/sound-queue.ts';
import { type Report, readFrames, writeFrame } from './frames.ts';

/** The last characters of stderr are kept for an error. */
const MOST_WORDS = 4096;

export interface ProcessOptions {
  readonly name: string;
  readonly command: readonly [string, string];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: object;
}

export interface ModelUtterance {
  readonly text: string;
  readonly options: object;
  readonly reference?: string | undefined;
}

/** The bound holds for all texts of one process together. More sound waits on its side. */
const MOST_WAITING_BYTES = 16 * 2 ** 20;

export class ModelProcess {
  /** @throws Refusal 502 `engine_failed` */
  readonly loaded: Promise<{ readonly sampleRate: number; readonly voices: number }>;
  begun = 0;
  isDead = false;
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #open = new Map<number, SoundQueue>();
  readonly #budget = new SoundBudget(MOST_WAITING_BYTES);
  readonly #closing = new AbortController();
  #words = '';

  constructor({ name, command, env, config }: ProcessOptions) {
    this.#name = name;
    const [program, file] = command;
    this.#child = spawn(program, [file], {
      env: env as NodeJS.ProcessEnv,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.#child.stderr?.on('data', (piece) => {
      this.#words = `${this.#words}${piece}`.slice(-MOST_WORDS);
    });
    this.#orders.on('error', () => {});
    this.loaded = this.#read();
    this.loaded.then(() => this.#rest()).catch(() => this.#child.kill('SIGKILL'));
    writeFrame(this.#orders, { type: 'load', config });
  }

  /** @throws Refusal 502 `engine_failed` */
  async *speak(utterance: ModelUtterance, signal: AbortSignal): AsyncGenerator<Int16Array> {
    signal.throwIfAborted();
    this.begun += 1;
    const id = this.begun;
    const sound = new SoundQueue(this.#budget, AbortSignal.any([signal, this.#closing.signal]));
    if (this.isDead) throw this.#died();
    this.#open.set(id, sound);
    this.#keepAlive('ref');
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

  /** After its utterances in work. */
  retire(): void {
    this.#orders.end();
  }

  async end(): Promise<void> {
    if (this.isDead) return;
    const closed = once(this.#child, 'close');
    this.#keepAlive('ref');
    this.#closing.abort(new Error('the process is closed'));
    this.#child.kill('SIGKILL');
    await closed;
  }

  get #orders(): Writable {
    return this.#child.stdio[3] as Writable;
  }

  /** An idle process does not keep this one alive. */
  #rest(): void {
    if (this.#open.size === 0) this.#keepAlive('unref');
  }

  #keepAlive(how: 'ref' | 'unref'): void {
    this.#child[how]();
    for (const pipe of this.#child.stdio) (pipe as Socket | null)?.[how]();
  }

  async #read(): Promise<{ sampleRate: number; voices: number }> {
    return new Promise((resolve, reject) => {
      // The last words arrive after the exit.
      const closed = once(this.#child, 'close').catch((error) => {
        this.#words = (error as Error).message;
      });
      void this.#listen(resolve, reject)
        .catch((error) => {
          this.#words = (error as Error).message;
          this.#child.kill('SIGKILL');
        })
        .then(() => closed)
        .then(() => {
          this.isDead = true;
          reject(this.#died());
          for (const sound of this.#open.values()) sound.end(this.#died());
        });
    });
  }

  /** A text whose reader rests may hold up the others, but only when more than the budget waits. */
  async #listen(
    onLoaded: (loaded: { sampleRate: number; voices: number }) => void,
    onFault: (error: Refusal) => void,
  ): Promise<void> {
    for await (const report of readFrames<Report>(this.#child.stdio[4] as Readable)) {
      if (report.type === 'loaded') onLoaded(report);
      else if (report.type === 'samples') await this.#pass(report);
      else if (report.type === 'end') this.#open.get(report.id)?.end();
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

  #died(): Refusal {
    const { exitCode, signalCode } = this.#child;
    const last = printable(this.#words.trim().split('\n').at(-1) ?? '');
    return this.#failed(`its process ended with ${signalCode ?? `status ${exitCode}`}${last && `: ${last}`}`);
  }

  #failed(message: string): Refusal {
    return new Refusal(502, 'engine_failed', `${this.#name}: ${printable(message)}`);
  }
}
