import type { Speaker } from './contract.ts';

/** A server with OpenAI's `/audio/speech` below its URL. */
export interface ServerConfig {
  readonly kind: 'server';
  readonly name: string;
  /** It has no trailing slash and no password. */
  readonly url: URL;
  readonly model?: string | undefined;
  /** The header of this name, with a key or a password. */
  readonly authorization?: string | undefined;
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
  readonly maxChars: number;
  readonly concurrency: number;
}

export type SourceConfig = ServerConfig | ProgramConfig | ModelConfig;

export interface SourceVoice {
  readonly name: string;
  /** A tag of BCP 47, or "und" for an unknown language. */
  readonly language: string;
  /** Hz. */
  readonly sampleRate: number;
}

/** Sound of 16-bit mono samples. */
export interface SourceSound {
  /** Hz. */
  readonly sampleRate: number;
  /** The pieces may have any length. */
  readonly samples: AsyncIterable<Int16Array>;
}

export interface NumberedSource {
  readonly source: VoiceSource;
  /** The voices that a number can name. The source may have more, which only their names can name. */
  readonly voices: ReadonlyMap<number, SourceVoice>;
}

export function speakersOf({ voices }: Pick<NumberedSource, 'voices'>): Speaker[] {
  return [...voices].map(([no, voice]) => ({ no, ...speakerOf(voice) }));
}

export function unnumberedSpeakersOf({ source, voices }: NumberedSource): Omit<Speaker, 'no'>[] {
  const numbered = new Set(voices.values());
  return source.voices.filter((voice) => !numbered.has(voice)).map(speakerOf);
}

function speakerOf({ name, language, sampleRate }: SourceVoice): Omit<Speaker, 'no'> {
  return { name, kind: 'neo.one', language, sampleRate };
}

/**
 * What shapes the sound besides the text.
 * @returns `undefined` for a built-in voice, whose sound is not kept
 */
export function identityOf(speaker: number, sources: readonly NumberedSource[]): string | undefined {
  for (const { source, voices } of sources) {
    const voice = voices.get(speaker);
    if (voice) return source.identityOf(voice);
  }
  return undefined;
}

export interface VoiceSource extends AsyncDisposable {
  readonly name: string;
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
  /** @throws EngineError with the words of the source, here and while the samples are read */
  speak(text: string, voice: SourceVoice, signal: AbortSignal): Promise<SourceSound>;
}
