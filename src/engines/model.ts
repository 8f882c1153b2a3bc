/** Engines that are model folders, of the user or of installed voices. */
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
 * Opens a model folder. For an installed voice no process has to start yet, since its manifest has all that is needed.
 * @throws EngineError with what is missing, or with the last words of the process
 */
export async function openModel(config: ModelConfig, options: ModelOptions): Promise<ExternalSource> {
  const { name, folder, voices: names, language, maxChars, concurrency, installed } = config;
  const model = modelIn(folder, name, installed?.espeakData);
  const cwd = installed?.base ?? folder;
  const scales = installed ? installed.scales : piperOf(model)?.scales;
  const identity = installed?.identity ?? modelIdentity(model);
  /** One process, or one for each accent. */
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
    // With the language, which changes the sound. Without the name of an installed voice, which may differ between machines.
    identityOf(voice) {
      return `${identity} ${partsOf(speakerOf(voice), installed !== undefined).join(' ')}`;
    },
    prepare(voice) {
      // The error is reported by the first text.
      processOf(speakerOf(voice).accent)
        .open()
        .catch(() => {});
    },
    async speak(text, voice, signal) {
      const speaker = speakerOf(voice);
      const { sid, accent, reference } = speaker;
      const options = optionsOf(speaker);
      return { sampleRate, samples: processOf(accent).speak({ text, options, sid, reference }, signal) };
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

/** The parts of an identity that distinguish a speaker from the others of its model. */
function partsOf({ name, sid, lang, speed, reference, sum }: ModelSpeaker, isInstalled: boolean) {
  const imitated = sum ?? (isInstalled && reference !== undefined ? basename(reference) : undefined);
  return [isInstalled ? sid : name, lang, speed, imitated].filter((part) => part !== undefined);
}

function missing({ name }: SourceVoice): never {
  throw new RangeError(`there is no voice ${name}`);
}

const MOST_VOICES = 10_000;

/** The sample rates in Hz that the interface of the service allows. */
const [LOWEST_RATE, HIGHEST_RATE] = [8000, 48_000];

/** @throws EngineError if the metadata of the model is implausible */
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
