import { basename, isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  EngineError,
  type ModelConfig,
  type ModelSpeaker,
  type Scales,
  type SourceVoice,
  type VoiceSource,
} from './engine.ts';
import { type Model, modelIdentity, modelIn, piperOf, speakersOf } from './model-families.ts';
import { ModelProcess, type ModelUtterance } from './model-process.ts';

/** The examples of sherpa-onnx have this number. */
const STEPS = 5;

export interface ModelSettings {
  /** The folder from which paths count. */
  readonly cwd: string;
  readonly scales: Scales | undefined;
  readonly accent: ModelSpeaker['accent'];
}

/**
 * What sherpa-onnx is given when it loads a model. Paths are relative: espeak-ng reads no others on Windows if the name of the
 * user is not ASCII.
 */
export function configOf({ family, files }: Model, { cwd, scales, accent }: ModelSettings): object {
  const { settings: _ours, lexicon = '', ...named } = files;
  const lexicons = lexicon.split(',').filter((file) => isSpokenWith(accent, file));
  const paths = Object.entries(named).map(([key, file]) => [key, within(cwd, file)]);
  const lexiconPaths = lexicons.map((file) => within(cwd, file)).join(',');
  return {
    model: {
      [family]: { ...Object.fromEntries(paths), ...(lexiconPaths && { lexicon: lexiconPaths }), ...scales },
      numThreads: 2,
      provider: 'cpu',
      debug: false,
    },
    maxNumSentences: 1,
  };
}

/** What sherpa-onnx is given with each text. */
export function optionsOf({ sid, lang }: ModelSpeaker, speed: number): object {
  return { sid, speed, silenceScale: 0.2, numSteps: STEPS, ...(lang !== undefined && { extra: { lang } }) };
}

/** The first entry of a word counts, so that a model with two accents may read one lexicon only. */
function isSpokenWith(accent: ModelSpeaker['accent'], file: string): boolean {
  if (file === '') return false;
  const own = /^lexicon-(us|gb)(?:-|\.)/.exec(basename(file))?.[1];
  return accent === undefined || own === undefined || own === accent;
}

function within(folder: string, file: string): string {
  const path = relative(folder, file);
  return isAbsolute(path) || path.startsWith('..') ? file : path;
}

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

/**
 * Opens a model folder. Of an installed voice everything is known before its process runs.
 * @throws EngineError with what is missing, or with the last words of the process
 */
export async function openModel(config: ModelConfig, options: ModelOptions): Promise<VoiceSource> {
  const { name, folder, voices: names, language, maxChars, concurrency, installed } = config;
  const model = modelIn(folder, name, installed?.espeakData);
  const processes = new Processes(config, model, options);
  const { sampleRate, voices: count } = installed ?? checked(await processes.open(), name);
  const speakers = installed?.speakers ?? speakersOf(model, { name, count, voices: names, language });
  const voices: SourceVoice[] = speakers.map((each) => ({
    name: each.name,
    language: each.language,
    sampleRate,
  }));
  const speakerOf = (voice: SourceVoice) => speakers[voices.indexOf(voice)] ?? missing(voice);
  return {
    name,
    voices,
    takesAnyVoice: false,
    identityOf: (voice) => processes.identityOf(speakerOf(voice)),
    maxChars,
    concurrency,
    prepare: (voice) => processes.prepare(speakerOf(voice)),
    speak: async (text, voice, signal, speed = 1) => ({
      sampleRate,
      samples: processes.speak(text, speakerOf(voice), signal, speed),
    }),
    [Symbol.asyncDispose]: () => processes.close(),
  };
}

function missing({ name }: SourceVoice): never {
  throw new RangeError(`there is no voice ${name}`);
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

/** The processes of a model: one, or one for each accent. */
class Processes {
  readonly #config: ModelConfig;
  readonly #model: Model;
  readonly #options: ModelOptions;
  readonly #scales;
  readonly #identity: string;
  readonly #keepers = new Map<ModelSpeaker['accent'], ProcessKeeper>();

  constructor(config: ModelConfig, model: Model, options: ModelOptions) {
    this.#config = config;
    this.#model = model;
    this.#options = options;
    this.#scales = config.installed ? config.installed.scales : piperOf(model)?.scales;
    this.#identity = config.installed?.identity ?? modelIdentity(model);
  }

  open(): Promise<Loaded> {
    return this.#keeper(this.#model.family === 'kokoro' ? 'us' : undefined).open();
  }

  prepare({ accent }: ModelSpeaker): void {
    // The first text reports the error.
    this.#keeper(accent)
      .open()
      .catch(() => {});
  }

  /** A language that the model is given makes another sound. An installed voice may have another name on another machine. */
  identityOf({ name, sid, lang }: ModelSpeaker): string {
    const who = this.#config.installed ? sid : name;
    return `${this.#identity} ${who}${lang === undefined ? '' : ` ${lang}`}`;
  }

  speak(text: string, speaker: ModelSpeaker, signal: AbortSignal, speed: number): AsyncGenerator<Int16Array> {
    const { sid, accent, reference } = speaker;
    // sherpa-onnx has no speed for the voices of Pocket.
    const options = optionsOf(speaker, reference === undefined ? speed : 1);
    return this.#keeper(accent).speak({ text, options, sid, reference }, signal);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#keepers.values()].map((keeper) => keeper.close()));
  }

  #keeper(accent: ModelSpeaker['accent']): ProcessKeeper {
    const { name, folder, installed } = this.#config;
    const cwd = installed?.base ?? folder;
    const settings = { cwd, scales: this.#scales, accent };
    const known = this.#keepers.get(accent);
    const keeper =
      known ??
      new ProcessKeeper({
        ...this.#options,
        name,
        cwd,
        config: configOf(this.#model, settings),
      });
    this.#keepers.set(accent, keeper);
    return keeper;
  }
}
