import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineError } from '../contract.ts';
import type { ModelConfig, VoiceSource } from '../source.ts';
import { identityOf, type Model, modelIn } from './families.ts';
import { ModelProcess } from './process.ts';

/** onnxruntime's memory grows with each utterance. */
const MOST_UTTERANCES = 500;

/** After this number of deaths in a row, the process is not started again. */
const MOST_DEATHS = 3;

interface Loaded {
  /** Hz. */
  readonly sampleRate: number;
  /** Models of a single voice may say 0. */
  readonly voices: number;
}

export interface ModelOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
}

/** @throws EngineError with what is missing, or with the last words of the process */
export async function openModel(config: ModelConfig, options: ModelOptions): Promise<VoiceSource> {
  const model = modelIn(config.folder, config.name);
  const keeper = new ProcessKeeper(config.name, model, options);
  const { sampleRate, voices: count } = checked(await keeper.open(), config.name);
  const voices = namesOf(config, model, count).map((name) => ({ name, language: 'und', sampleRate }));
  const { name, maxChars, concurrency } = config;
  const identity = identityOf(model);
  return {
    name,
    voices,
    takesAnyVoice: false,
    identityOf: (voice) => `${identity} ${voice.name}`,
    maxChars,
    concurrency,
    speak: async (text, voice, signal) => ({
      sampleRate,
      samples: keeper.speak(text, voices.indexOf(voice), signal),
    }),
    [Symbol.asyncDispose]: () => keeper.close(),
  };
}

const MOST_VOICES = 10_000;

/** Hz. The interface of the service has these bounds. */
const [LOWEST_RATE, HIGHEST_RATE] = [8000, 48_000];

/** @throws EngineError for metadata of a model that cannot be true */
function checked(loaded: Loaded, name: string): Loaded {
  const { sampleRate, voices } = loaded;
  if (!(voices >= 0 && voices <= MOST_VOICES))
    throw new EngineError('failed', `${name}: a model cannot have ${voices} voices`);
  if (!(sampleRate >= LOWEST_RATE && sampleRate <= HIGHEST_RATE))
    throw new EngineError(
      'failed',
      `${name}: the model speaks at ${sampleRate} Hz, and not at ${LOWEST_RATE} to ${HIGHEST_RATE} Hz`,
    );
  return loaded;
}

function namesOf({ name, voices = [] }: ModelConfig, { references }: Model, count: number): string[] {
  if (references.length > 0) return references.map((file) => basename(file, '.wav'));
  if (count <= 1) return [voices[0] ?? name];
  return Array.from({ length: count }, (_, sid) => voices[sid] ?? `${name}-${sid}`);
}

class ProcessKeeper {
  readonly #name: string;
  readonly #model: Model;
  readonly #options: ModelOptions;
  #process: ModelProcess | undefined;
  #deaths = 0;
  #lastDeath: unknown;

  constructor(name: string, model: Model, options: ModelOptions) {
    this.#name = name;
    this.#model = model;
    this.#options = options;
  }

  open(): Promise<Loaded> {
    return this.#current().loaded;
  }

  /** @param voice must exist: sherpa-onnx takes another voice for an unknown one */
  async *speak(text: string, voice: number, signal: AbortSignal): AsyncGenerator<Int16Array> {
    const child = this.#current();
    const reference = this.#model.references[voice];
    const options = {
      sid: reference === undefined ? voice : 0,
      speed: 1,
      silenceScale: 0.2,
      numSteps: STEPS,
    };
    try {
      const { voices } = await child.loaded;
      if (reference === undefined && (voice < 0 || voice >= Math.max(1, voices)))
        throw new RangeError(`there is no voice ${voice}`);
      yield* child.speak({ text, options, reference }, signal);
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
    this.#process = new ModelProcess({
      name: this.#name,
      command: [this.#options.execPath, fileURLToPath(new URL('model.mjs', import.meta.url))],
      env: this.#options.env,
      config: configOf(this.#model),
    });
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

/** The examples of sherpa-onnx have this number. */
const STEPS = 5;

function configOf({ family, files }: Model): object {
  return {
    model: { [family]: files, numThreads: 2, provider: 'cpu', debug: false },
    maxNumSentences: 1,
  };
}
