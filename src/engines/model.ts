import { basename } from 'node:path';
import {
  EngineError,
  type ExternalSource,
  type ModelConfig,
  type ModelSpeaker,
  type SourceVoice,
} from './engine.ts';
import { configOf, modelIdentity, modelIn, optionsOf, piperOf, speakersOf } from './model-families.ts';
import { type Loaded, type ModelOptions, ProcessKeeper } from './model-process.ts';

/**
 * Opens a model folder. Of an installed voice everything is known before its process runs.
 * @throws EngineError with what is missing, or with the last words of the process
 */
export async function openModel(config: ModelConfig, options: ModelOptions): Promise<ExternalSource> {
  const { name, folder, voices: names, language, maxChars, concurrency, installed } = config;
  const model = modelIn(folder, name, installed?.espeakData);
  const cwd = installed?.base ?? folder;
  const scales = installed ? installed.scales : piperOf(model)?.scales;
  const identity = installed?.identity ?? modelIdentity(model);
  /** One, or one for each accent. */
  const processes = new Map<ModelSpeaker['accent'], ProcessKeeper>();
  const processOf = (accent: ModelSpeaker['accent']) => {
    const keeper =
      processes.get(accent) ??
      new ProcessKeeper({ ...options, name, cwd, config: configOf(model, { cwd, scales, accent }) });
    processes.set(accent, keeper);
    return keeper;
  };
  const first = model.family === 'kokoro' ? 'us' : undefined;
  const { sampleRate, voices: count } = installed ?? checked(await processOf(first).open(), name);
  const speakers = installed?.speakers ?? speakersOf(model, { name, count, voices: names, language });
  const voices = speakers.map((speaker) => voiceOf(speaker, sampleRate, model.numbers));
  const speakerOf = (voice: SourceVoice) => speakers[voices.indexOf(voice)] ?? missing(voice);
  return {
    name,
    voices,
    maxChars,
    concurrency,
    // A language that the model is given makes another sound. An installed voice may have another name on another machine.
    identityOf(voice) {
      return `${identity} ${partsOf(speakerOf(voice), installed !== undefined).join(' ')}`;
    },
    prepare(voice) {
      // The first text reports the error.
      processOf(speakerOf(voice).accent)
        .open()
        .catch(() => {});
    },
    async speak(text, voice, signal, speed = 1) {
      const speaker = speakerOf(voice);
      const { sid, accent, reference } = speaker;
      // sherpa-onnx has no speed for the voices of Pocket.
      const how = optionsOf(speaker, reference === undefined ? speed : 1);
      return { sampleRate, samples: processOf(accent).speak({ text, options: how, sid, reference }, signal) };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...processes.values()].map((keeper) => keeper.close()));
    },
  };
}

function voiceOf(
  { name, language, style, gender }: ModelSpeaker,
  sampleRate: number,
  numbers: 'words' | undefined,
): SourceVoice {
  return { name, language, sampleRate, style, gender, numbers: numbers && language };
}

/** What tells the sound of a speaker from that of others of its model. */
function partsOf({ name, sid, lang, speed, reference, sum }: ModelSpeaker, isInstalled: boolean) {
  const likeness = sum ?? (isInstalled && reference !== undefined ? basename(reference) : undefined);
  return [isInstalled ? sid : name, lang, speed, likeness].filter((part) => part !== undefined);
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
