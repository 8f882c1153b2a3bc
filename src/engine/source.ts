import type { EngineSound, Speaker } from './contract.ts';

/** A server with OpenAI's `/audio/speech` below its URL. */
export interface ServerConfig {
  readonly kind: 'server';
  readonly name: string;
  /** It has no trailing slash and no password. */
  readonly url: URL;
  readonly model?: string | undefined;
  /** The header of this name, with a key or a password. */
  readonly authorization?: string | undefined;
  /** Asks the user for that header, where the server seems to want one. */
  readonly askAuthorization?: (() => Promise<string | undefined>) | undefined;
  readonly format: 'wav' | 'pcm';
  readonly voices?: readonly string[] | undefined;
  /** Hz. With it, an answer that is not a WAV is read as bare samples. */
  readonly sampleRate?: number | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
}

export interface ProgramConfig {
  readonly kind: 'program';
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly output: 'wav' | 's16le';
  /** Hz. The output `s16le` needs it. */
  readonly sampleRate?: number | undefined;
  readonly voices?: readonly string[] | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
}

/** A model folder of sherpa-onnx. */
export interface ModelConfig {
  readonly kind: 'model';
  readonly name: string;
  /** It is absolute. */
  readonly folder: string;
  readonly voices?: readonly string[] | undefined;
  /** A tag of BCP 47: what a model of several languages is to speak. */
  readonly language?: string | undefined;
  readonly maxChars: number;
  readonly concurrency: number;
  /** It is set for a voice that `tts voices` has installed. */
  readonly installed?: InstalledModel | undefined;
}

/** One voice of a model, with what its process is given. */
export interface ModelSpeaker {
  readonly name: string;
  /** A tag of BCP 47, or "und" for an unknown language. */
  readonly language: string;
  readonly sid: number;
  /** The language in the words of the model, where it speaks several. */
  readonly lang?: string | undefined;
  /** Which of the lexicons of the model is meant. */
  readonly accent?: 'us' | 'gb' | undefined;
  /** A WAV file with the voice. */
  readonly reference?: string | undefined;
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
  /** Hz. It stands for the voice's own rate in the keys of the cache. By default it is `sampleRate`. */
  readonly usualRate?: number;
}

export interface NumberedSource {
  readonly source: VoiceSource;
  /** The voices that a number can name. The source may have more, which only their names can name. */
  readonly voices: ReadonlyMap<number, SourceVoice>;
}

export function speakersOf({ source, voices }: NumberedSource): Speaker[] {
  return [...voices].map(([no, voice]) => ({ no, ...asSpeaker(voice), engine: source.name }));
}

export function unnumberedSpeakersOf({ source, voices }: NumberedSource): Omit<Speaker, 'no'>[] {
  const numbered = new Set(voices.values());
  return source.voices
    .filter((voice) => !numbered.has(voice))
    .map((voice) => ({ ...asSpeaker(voice), engine: source.name }));
}

/** `heart` for `af_heart`: names of Kokoro's speakers begin with their language and their sex. */
export function shortName(name: string): string | undefined {
  return /^[a-z][fm]_(.+)$/.exec(name)?.[1];
}

function asSpeaker({ name, language, sampleRate }: SourceVoice): Omit<Speaker, 'no'> {
  return { name, kind: 'neo.one', language, sampleRate };
}

export interface VoiceSource extends AsyncDisposable {
  readonly name: string;
  /** What the user can do where it fails, if that is known. */
  readonly advice?: string | undefined;
  /** There is at least one, and the order is that of the engine. */
  readonly voices: readonly SourceVoice[];
  /** It is true for a server without a list of voices. */
  readonly takesAnyVoice: boolean;
  addVoice?(name: string): void;
  /** All that shapes the sound of a voice besides text and sample rate. No two voices of any sources have the same. */
  identityOf(voice: SourceVoice): string;
  /** The longest text, in code points. */
  readonly maxChars: number;
  /** It speaks at most this number of texts at once. */
  readonly concurrency: number;
  /** Starts what the voice speaks with, and does not wait for it. */
  prepare?(voice: SourceVoice): void;
  /**
   * @param speed 1 is the voice's own; a source that knows no speed takes no notice of it
   * @throws EngineError with the words of the source, here and while the samples are read
   */
  speak(text: string, voice: SourceVoice, signal: AbortSignal, speed?: number): Promise<EngineSound>;
}
