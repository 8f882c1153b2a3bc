import { fileURLToPath } from 'node:url';
import { EngineError } from '../contract.ts';
import type { ModelUtterance } from './process.ts';
import { ModelProcess } from './process.ts';

/** onnxruntime's memory grows with each utterance. */
const MOST_UTTERANCES = 500;

/** After this number of deaths in a row, the process is not started again. */
const MOST_DEATHS = 3;

export interface Loaded {
  /** Hz. */
  readonly sampleRate: number;
  /** Models of a single voice may say 0. */
  readonly voices: number;
}

export interface ModelOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
  /** Folders with a `node_modules` in which the runtime may lie, besides that of this program. */
  readonly runtimes: readonly string[];
}

export interface KeptModel extends ModelOptions {
  readonly name: string;
  /** What sherpa-onnx is given. Its paths count from the folder `cwd`. */
  readonly config: object;
  readonly cwd: string;
}

/** Keeps one process of a model running, and starts it again when it has died. */
export class ProcessKeeper {
  readonly #model: KeptModel;
  #process: ModelProcess | undefined;
  #deaths = 0;
  #lastDeath: unknown;

  constructor(model: KeptModel) {
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
    const { execPath, ...model } = this.#model;
    const program = fileURLToPath(new URL('model.mjs', import.meta.url));
    this.#process = new ModelProcess({ ...model, command: [execPath, program] });
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
