import { EngineError } from '../contract.ts';
import type { ModelConfig, ModelSpeaker, SourceVoice, VoiceSource } from '../source.ts';
import { configOf, optionsOf } from './config.ts';
import { type Model, modelIdentity, modelIn } from './families.ts';
import { type Loaded, type ModelOptions, ProcessKeeper } from './keeper.ts';
import { piperOf, speakersOf } from './speakers.ts';

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
