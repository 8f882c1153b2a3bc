import type { Readable, Writable } from 'node:stream';
import { Child, type Exit } from '../kit/program.ts';
import { BoundedQueue, ByteBudget } from '../kit/queue.ts';
import { printable } from '../kit/words.ts';
import { EngineError } from './engine.ts';

export type Order =
  | { readonly type: 'probe'; readonly runtimes: readonly string[]; readonly isBeside: boolean }
  | { readonly type: 'load'; readonly config: object; readonly runtimes?: readonly string[] }
  | {
      readonly type: 'speak';
      readonly id: number;
      readonly text: string;
      readonly options: object;
      readonly reference?: string;
    }
  | { readonly type: 'cancel'; readonly id: number };

export type Report =
  | { readonly type: 'found'; readonly runtime: string }
  | { readonly type: 'loaded'; readonly sampleRate: number; readonly voices: number }
  | { readonly type: 'samples'; readonly id: number; readonly samples: Int16Array }
  | { readonly type: 'end'; readonly id: number }
  | { readonly type: 'error'; readonly id?: number | undefined; readonly message: string };

const JSON_FRAME = 0;
const SAMPLES_FRAME = 1;
/** The head holds length and kind. */
const HEAD_BYTES = 5;
/** A minute and a half at 48 kHz. */
const MOST_BYTES = 16 * 2 ** 20;

export function writeFrame(stream: Writable, message: Order | Report): void {
  const [kind, bytes] =
    message.type === 'samples'
      ? [SAMPLES_FRAME, samplesBytes(message)]
      : [JSON_FRAME, Buffer.from(JSON.stringify(message))];
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(bytes.length, 0);
  head.writeUInt8(kind, 4);
  stream.write(Buffer.concat([head, bytes]));
}

function samplesBytes({ id, samples }: Extract<Report, { type: 'samples' }>): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(id);
  return Buffer.concat([head, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)]);
}

/**
 * Drops a torn last frame.
 * @throws Error for a frame that is too long
 */
export async function* readFrames<Message extends Order | Report>(stream: Readable): AsyncGenerator<Message> {
  let held = Buffer.alloc(0);
  for await (const piece of stream) {
    held = held.length === 0 ? piece : Buffer.concat([held, piece]);
    while (held.length >= HEAD_BYTES) {
      const length = held.readUInt32LE(0);
      if (length > MOST_BYTES) throw new Error(`a frame of ${length} bytes`);
      if (held.length < HEAD_BYTES + length) break;
      const bytes = held.subarray(HEAD_BYTES, HEAD_BYTES + length);
      yield (
        held.readUInt8(4) === SAMPLES_FRAME ? samplesIn(bytes) : JSON.parse(bytes.toString())
      ) as Message;
      held = held.subarray(HEAD_BYTES + length);
    }
  }
}

function samplesIn(bytes: Buffer): Extract<Report, { type: 'samples' }> {
  // An Int16Array needs an even offset.
  const samples = new Int16Array(Uint8Array.from(bytes.subarray(4)).buffer);
  return { type: 'samples', id: bytes.readUInt32LE(0), samples };
}

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
  readonly #open = new Map<number, BoundedQueue<Int16Array>>();
  readonly #budget = new ByteBudget(MOST_WAITING_BYTES);
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

export interface ProbeOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
  /** The program that loads models. */
  readonly program: string;
  readonly runtimes: readonly string[];
  /** False looks in the given folders only. */
  readonly isBeside: boolean;
}

/** Loads the runtime in a child: a library that does not fit may end its process at once, without a word. */
export async function probeRuntime(
  { env, execPath, program, runtimes, isBeside }: ProbeOptions,
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
