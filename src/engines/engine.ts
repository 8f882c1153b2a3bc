/** Types of speech engines, their configuration and their errors. */
import type { Gender } from '../sound/voice.ts';

/** A built-in voice, or one of espeak-ng. */
export interface EngineVoice {
  readonly no: number;
  readonly name: string;
  /** Speakers of the kind `neo.one` support `sample_rate`, those of `Mermish` support `instructions`. */
  readonly kind: 'neo.one' | 'Mermish';
  /** BCP 47, or espeak-ng's own tag. */
  readonly language: string;
  /** Absent if unknown. */
  readonly gender?: Gender | undefined;
  /** Further language tags that the voice is listed under. */
  readonly alsoSpeaks?: readonly string[] | undefined;
}

/** How to speak. All values are factors; 1 changes nothing. */
export interface Style {
  /** Factor of the speed, from 0.25 to 4; 2 is twice as fast. */
  readonly rate: number;
  /** Factor of the fundamental frequency, from 0.5 to 2. */
  readonly pitch: number;
  /** Factor of the amplitude, from 0.1 to 2. */
  readonly loudness: number;
  /** Factor of the silence between sentences, from 0 to 5. */
  readonly pause: number;
}

/**
 * What was done about sound that does not fit its text: spoken again `in parts`, or kept because only later sounds revealed
 * the misfit (`late`) or because it was already `heard`.
 */
export type CutManner = 'in parts' | 'late' | 'heard';

/** One text for one voice of an engine. */
export interface EngineUtterance {
  readonly text: string;
  /** The number of the voice. */
  readonly no: number;
  /** Hz. Without it, the voice speaks at its own rate. */
  readonly sampleRate?: number | undefined;
  /** Voices of the user's engines have none. */
  readonly style: Style;
  /** Called if the sound of an engine does not fit the text: too short, too long, or with too much silence inside. */
  readonly onCut?: ((message: string, how: CutManner) => void) | undefined;
  /** True if the caller waits for the whole sound, so that all of it can be checked before any is returned. */
  readonly isWhole?: boolean;
}

/** Sound of 16-bit mono samples. */
export interface EngineSound {
  /** Hz. */
  readonly sampleRate: number;
  /** Samples in pieces of any length. */
  readonly samples: AsyncIterable<Int16Array>;
}

/** A speech synthesizer with one or more voices. */
export interface Engine {
  /**
   * Speaks one utterance. The caller must read all samples, or abort.
   * @throws EngineError here and while the samples are read
   */
  speak(utterance: EngineUtterance, signal: AbortSignal): Promise<EngineSound>;
  close(): Promise<void>;
}

/**
 * The kind of a failure. "It" is the server, the program or the model:
 * - `unsupported text`: the voice can read nothing in the text;
 * - `busy`: the same utterance may succeed later;
 * - `broken`: a built-in voice or espeak-ng does not work;
 * - `failed`: a server, a program or a model works incorrectly;
 * - `late`: it did not answer in time;
 * - `unreachable`: the connection to it failed or broke off;
 * - `refused`: it answered with an error;
 * - `rejected`: a remote service rejects this request, and would reject it again;
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
  | 'rejected'
  | 'no storage';

interface EngineErrorOptions {
  readonly cause?: unknown;
  /** Seconds after which a busy engine may be asked again. */
  readonly retryAfter?: number | undefined;
  /** The HTTP status of the answer, if the engine is a server. */
  readonly status?: number | undefined;
  /** True if a retry of the same utterance would fail, too. */
  readonly isFinal?: boolean;
}

/** The failure of an engine. The message is in the engine's own words. */
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

/** Returns the error for an utterance that finds the queue full. */
export function queueFull(): EngineError {
  return new EngineError('busy', 'too many requests wait already');
}

/** Hz. The default sample rate of the built-in voices and espeak-ng. */
export const OWN_RATE = 22_050;

/** Configuration that all engines of the user share. */
interface CommonConfig {
  readonly name: string;
  readonly voices?: readonly string[] | undefined;
  /** See `numbers` of `SourceVoice`. */
  readonly numbers?: string | undefined;
  /** The longest text, in code points. */
  readonly maxChars: number;
  /** Texts that the engine speaks at once, at most. */
  readonly concurrency: number;
}

/** A server that offers OpenAI's `/audio/speech` below its URL. */
export interface ServerConfig extends CommonConfig {
  readonly kind: 'server';
  /** The base URL, without a trailing slash and without a password. */
  readonly url: URL;
  readonly model?: string | undefined;
  /** The value of the `Authorization` header, with a key or a password. */
  readonly authorization?: string | undefined;
  /** Asks the user for that header if the server seems to require one. */
  readonly askAuthorization?: (() => Promise<string | undefined>) | undefined;
  readonly format: 'wav' | 'pcm';
  /** Hz. If set, an answer that is not a WAV is read as bare samples. */
  readonly sampleRate?: number | undefined;
}

export interface ProgramConfig extends CommonConfig {
  readonly kind: 'program';
  readonly command: readonly [string, ...string[]];
  readonly output: 'wav' | 's16le';
  /** Hz. Required for the output `s16le`. */
  readonly sampleRate?: number | undefined;
}

/** A model folder of sherpa-onnx. */
export interface ModelConfig extends CommonConfig {
  readonly kind: 'model';
  /** Absolute path. */
  readonly folder: string;
  /** The BCP 47 tag of the language to speak, for a model with several. */
  readonly language?: string | undefined;
  /** Set for a voice that `tts voices` has installed. */
  readonly installed?: InstalledModel | undefined;
}

/** One voice of a model, with the parameters that its process gets. */
export interface ModelSpeaker {
  readonly name: string;
  /** A tag of BCP 47, or "und" for an unknown language. */
  readonly language: string;
  readonly sid: number;
  /** Added to the number of the first speaker; defaults to `sid`. */
  readonly offset?: number | undefined;
  /** The name of the same voice in all its languages. */
  readonly style?: string | undefined;
  readonly gender?: Gender | undefined;
  /** The speed factor that gives the voice a natural pace; defaults to 1. */
  readonly speed?: number | undefined;
  /** The model's own name for the language, if it speaks several. */
  readonly lang?: string | undefined;
  /** Selects one of the lexicons of the model. */
  readonly accent?: 'us' | 'gb' | undefined;
  /** A WAV file with a recording of the voice to imitate. */
  readonly reference?: string | undefined;
  /** The checksum of a `reference` that does not belong to the model. */
  readonly sum?: string | undefined;
}

/** Synthesis factors of a Piper voice, with the names that sherpa-onnx gives them. */
export interface Scales {
  readonly noiseScale: number;
  readonly noiseScaleW: number;
  readonly lengthScale: number;
}

/** Facts about an installed voice that are known before its process runs. */
interface InstalledModel {
  /** A checksum over everything that shapes the sound, equal on all machines. */
  readonly identity: string;
  /** Hz. */
  readonly sampleRate: number;
  /** The number of voices in the model. */
  readonly voices: number;
  readonly speakers: readonly ModelSpeaker[];
  readonly scales?: Scales | undefined;
  /** The folder of espeak-ng's data, if the voice needs it. */
  readonly espeakData?: string | undefined;
  /** The folder that contains all of these files. Paths are relative to it. */
  readonly base: string;
}

export type SourceConfig = ServerConfig | ProgramConfig | ModelConfig;

export interface SourceVoice {
  readonly name: string;
  /** A tag of BCP 47, or "und" for an unknown language. */
  readonly language: string;
  /** Hz; `undefined` if only the sound itself reveals it. */
  readonly sampleRate: number | undefined;
  readonly style?: string | undefined;
  readonly gender?: Gender | undefined;
  /** The BCP 47 tag of the language in which numbers are written out for the voice. Without it, the voice reads digits. */
  readonly numbers?: string | undefined;
}

/** Returns `heart` for `af_heart`: names of Kokoro's speakers begin with language and gender. */
export function shortName(name: string): string | undefined {
  return /^[a-z][fm]_(.+)$/.exec(name)?.[1];
}

/** Returns the offset of a speaker from the number of the first speaker of its model. */
export function offsetOf({ offset, sid }: Pick<ModelSpeaker, 'offset' | 'sid'>): number {
  return offset ?? sid;
}

/** An opened server, program or model of the user. */
export interface ExternalSource
  extends AsyncDisposable,
    Pick<CommonConfig, 'name' | 'maxChars' | 'concurrency'> {
  /** A hint for the user if the source fails. */
  readonly advice?: string | undefined;
  /** At least one voice, in the order of the engine. */
  readonly voices: readonly SourceVoice[];
  /** Defined for a server that lists no voices and accepts any name. */
  readonly addVoice?: ((name: string) => void) | undefined;
  /** Identifies all that shapes the sound except text and sample rate; unique among the voices of all sources. */
  identityOf(voice: SourceVoice): string;
  /** Starts the process of the voice without waiting for it. */
  prepare?(voice: SourceVoice): void;
  /** @throws EngineError with the message of the source, here and while the samples are read */
  speak(text: string, voice: SourceVoice, signal: AbortSignal): Promise<EngineSound>;
}
