/** How a voice sounds, as its maker says. */
export type Gender = 'woman' | 'man' | 'neutral';

/** A built-in voice, or one of espeak-ng. */
export interface Speaker {
  readonly no: number;
  readonly name: string;
  /** `neo.one` speakers honour `sample_rate`, `Mermish` speakers honour `instructions`. */
  readonly kind: 'neo.one' | 'Mermish';
  /** BCP 47, or espeak-ng's own tag. */
  readonly language: string;
  /** As far as it is known. */
  readonly gender?: Gender | undefined;
  /** Further tags that the voice is listed under. */
  readonly alsoSpeaks?: readonly string[];
}

/** Factors; 1 changes nothing. */
export interface Style {
  /** 0.25 to 4; 2 is twice as fast. */
  readonly rate: number;
  /** It is a factor of the fundamental frequency, from 0.5 to 2. */
  readonly pitch: number;
  /** It is a factor of the amplitude, from 0.1 to 2. */
  readonly loudness: number;
  /** It is a factor of the silence between sentences, from 0 to 5. */
  readonly pause: number;
}

/** What was done: the text was spoken in smaller parts, nothing since later sounds showed it, or nothing since it was heard. */
export type CutManner = 'in parts' | 'late' | 'heard';

export interface Utterance {
  readonly text: string;
  /** The number of the voice. */
  readonly no: number;
  /** Hz. Without it, the voice speaks at its own rate. */
  readonly sampleRate?: number | undefined;
  readonly style: Style;
  /**
   * It is called where the sound of an engine does not fit the text: it is too short, too long, or has too much silence inside.
   */
  readonly onCut?: ((message: string, how: CutManner) => void) | undefined;
  /** The caller waits for all of the sound, so that none of it has to leave before it is checked. */
  readonly isWhole?: boolean;
}

/** Sound of 16-bit mono samples. */
export interface EngineSound {
  /** Hz. */
  readonly sampleRate: number;
  /** The pieces may have any length. */
  readonly samples: AsyncIterable<Int16Array>;
}

/** Makes the sound of its voices. */
export interface Engine {
  /**
   * The caller reads the samples, or aborts.
   * @throws EngineError here and while the samples are read
   */
  speak(utterance: Utterance, signal: AbortSignal): Promise<EngineSound>;
  close(): Promise<void>;
}

/**
 * What went wrong:
 * - `unsupported text`: there is nothing in the text that the voice can read;
 * - `busy`: the same utterance may succeed later;
 * - `broken`: a built-in voice or espeak-ng does not work;
 * - `failed`: a server, a program or a model does not do what it should;
 * - `late`: it did not answer in time;
 * - `unreachable`: there is no connection to it, or the connection broke off;
 * - `refused`: it answered with an error;
 * - `no storage`: a temporary file cannot be written.
 */
export type EngineFault =
  | 'unsupported text'
  | 'busy'
  | 'broken'
  | 'failed'
  | 'late'
  | 'unreachable'
  | 'refused'
  | 'no storage';

interface EngineErrorOptions {
  readonly cause?: unknown;
  /** Seconds after which a busy engine may be asked again. */
  readonly retryAfter?: number | undefined;
  /** The HTTP status of the engine's own answer, where it is a server. */
  readonly status?: number | undefined;
  /** True if the same utterance fails again. */
  readonly isFinal?: boolean;
}

/** An engine did not speak. The message has the engine's own words. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly kind: EngineFault;
  readonly retryAfter: number | undefined;
  readonly status: number | undefined;
  readonly isFinal: boolean;

  constructor(
    kind: EngineFault,
    message: string,
    { retryAfter, status, isFinal = false, cause }: EngineErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.retryAfter = retryAfter;
    this.status = status;
    this.isFinal = isFinal;
  }
}

/** The error of an utterance for which a queue has no place. */
export function queueFull(): EngineError {
  return new EngineError('busy', 'too many requests wait already');
}

/** Hz. The built-in voices and espeak-ng speak at this rate where none is asked for. */
export const OWN_RATE = 22_050;

/** What is known of each engine of the user. */
interface CommonConfig {
  readonly name: string;
  readonly voices?: readonly string[] | undefined;
  /** As in `SourceVoice`. */
  readonly numbers?: string | undefined;
  /** The longest text, in code points. */
  readonly maxChars: number;
  /** It speaks at most this number of texts at once. */
  readonly concurrency: number;
}

/** A server with OpenAI's `/audio/speech` below its URL. */
export interface ServerConfig extends CommonConfig {
  readonly kind: 'server';
  /** It has no trailing slash and no password. */
  readonly url: URL;
  readonly model?: string | undefined;
  /** The header of this name, with a key or a password. */
  readonly authorization?: string | undefined;
  /** Asks the user for that header, where the server seems to want one. */
  readonly askAuthorization?: (() => Promise<string | undefined>) | undefined;
  readonly format: 'wav' | 'pcm';
  /** Hz. With it, an answer that is not a WAV is read as bare samples. */
  readonly sampleRate?: number | undefined;
}

export interface ProgramConfig extends CommonConfig {
  readonly kind: 'program';
  readonly command: readonly [string, ...string[]];
  readonly output: 'wav' | 's16le';
  /** Hz. The output `s16le` needs it. */
  readonly sampleRate?: number | undefined;
}

/** A model folder of sherpa-onnx. */
export interface ModelConfig extends CommonConfig {
  readonly kind: 'model';
  /** It is absolute. */
  readonly folder: string;
  /** A tag of BCP 47: what a model of several languages is to speak. */
  readonly language?: string | undefined;
  /** It is set for a voice that `tts voices` has installed. */
  readonly installed?: InstalledModel | undefined;
}

/** One voice of a model, with what its process is given. */
export interface ModelSpeaker {
  readonly name: string;
  /** A tag of BCP 47, or "und" for an unknown language. */
  readonly language: string;
  readonly sid: number;
  /** It is added to the number of the first speaker. By default it is `sid`. */
  readonly offset?: number | undefined;
  /** The name that it shares with itself in other languages. */
  readonly style?: string | undefined;
  readonly gender?: Gender | undefined;
  /** The factor that gives it a natural pace; by default 1. */
  readonly speed?: number | undefined;
  /** The language in the words of the model, where it speaks several. */
  readonly lang?: string | undefined;
  /** Which of the lexicons of the model is meant. */
  readonly accent?: 'us' | 'gb' | undefined;
  /** A WAV file with the voice. */
  readonly reference?: string | undefined;
  /** The checksum of a reference that is not a file of the model. */
  readonly sum?: string | undefined;
}

/** Factors of a voice of Piper. The names are those of sherpa-onnx. */
export interface Scales {
  readonly noiseScale: number;
  readonly noiseScaleW: number;
  readonly lengthScale: number;
}

/** What is known of an installed voice before its process runs. */
interface InstalledModel {
  /** The checksum of all that shapes the sound, so that it is the same on two machines. */
  readonly identity: string;
  /** Hz. */
  readonly sampleRate: number;
  /** The number of its voices. */
  readonly voices: number;
  readonly speakers: readonly ModelSpeaker[];
  readonly scales?: Scales | undefined;
  /** The folder of espeak-ng's data, where the voice needs it. */
  readonly espeakData?: string | undefined;
  /** The folder that holds all of these. Paths count from it. */
  readonly base: string;
}

export type SourceConfig = ServerConfig | ProgramConfig | ModelConfig;

export interface SourceVoice {
  readonly name: string;
  /** A tag of BCP 47, or "und" for an unknown language. */
  readonly language: string;
  /** Hz. It is `undefined` where only an answer tells. */
  readonly sampleRate: number | undefined;
  readonly style?: string | undefined;
  readonly gender?: Gender | undefined;
  /** A tag of BCP 47: the voice gets numbers in words of that language. Without it, it reads them itself. */
  readonly numbers?: string | undefined;
}

/** `heart` for `af_heart`: names of Kokoro's speakers begin with their language and their sex. */
export function shortName(name: string): string | undefined {
  return /^[a-z][fm]_(.+)$/.exec(name)?.[1];
}

/** The place of a speaker among the numbers of its model. */
export function offsetOf({ offset, sid }: Pick<ModelSpeaker, 'offset' | 'sid'>): number {
  return offset ?? sid;
}

/** A server, a program or a model of the user, opened. */
export interface ExternalSource
  extends AsyncDisposable,
    Pick<CommonConfig, 'name' | 'maxChars' | 'concurrency'> {
  /** What the user can do where it fails, if that is known. */
  readonly advice?: string | undefined;
  /** There is at least one, and the order is that of the engine. */
  readonly voices: readonly SourceVoice[];
  /** It is there for a server without a list of voices, which takes any name. */
  readonly addVoice?: ((name: string) => void) | undefined;
  /** All that shapes the sound of a voice besides text and sample rate. No two voices of any sources have the same. */
  identityOf(voice: SourceVoice): string;
  /** Starts what the voice speaks with, and does not wait for it. */
  prepare?(voice: SourceVoice): void;
  /**
   * @param speed 1 is the voice's own; a source that knows no speed takes no notice of it
   * @throws EngineError with the words of the source, here and while the samples are read
   */
  speak(text: string, voice: SourceVoice, signal: AbortSignal, speed?: number): Promise<EngineSound>;
}
