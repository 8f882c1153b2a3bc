import type { Speaker } from '../contract.ts';

export interface SourceVoice {
  /** The engine's name for it. */
  readonly name: string;
  /** BCP 47; "und" if unknown. */
  readonly language: string;
  /** Hz. */
  readonly sampleRate: number;
}

/** 16-bit mono samples. */
export interface SourceSound {
  /** Hz. */
  readonly sampleRate: number;
  /** Pieces of any length. */
  readonly samples: AsyncIterable<Int16Array>;
}

/** An engine, and the number of its first voice. */
export interface NumberedSource {
  readonly source: VoiceSource;
  readonly firstNumber: number;
}

export function speakersOf({ source, firstNumber }: NumberedSource): Speaker[] {
  return source.voices.map(({ name, language, sampleRate }, at) => ({
    no: firstNumber + at,
    name,
    kind: 'neo.one',
    language,
    sampleRate,
  }));
}

/**
 * What the sound of a voice depends on, beside its text.
 * @returns `undefined` for a built-in voice, whose sound is not kept
 */
export function identityOf(speaker: number, engines: readonly NumberedSource[]): string | undefined {
  for (const { source, firstNumber } of engines) {
    const voice = source.voices[speaker - firstNumber];
    if (voice) return `${source.identity} ${voice.name}`;
  }
  return undefined;
}

/** A server, a program, or a model in a process of its own. */
export interface VoiceSource extends AsyncDisposable {
  /** From the config; otherwise the host or the folder. */
  readonly name: string;
  /** Names what shapes the sound beside text and voice. */
  readonly identity: string;
  /** In the engine's order; at least one. */
  readonly voices: readonly SourceVoice[];
  /** True for a server without a list of voices. */
  readonly takesAnyVoice: boolean;
  /** Appends a voice, where any name may be one. */
  addVoice?(name: string): void;
  /** Longest text, in code points. */
  readonly maxChars: number;
  /** Texts at once. */
  readonly concurrency: number;
  /**
   * @param text of at most `maxChars`
   * @throws Refusal 429 or 503 from the engine; 502 `engine_failed` with the engine's words, here and while the samples are
   * read; the reason of the signal
   */
  speak(text: string, voice: SourceVoice, signal: AbortSignal): Promise<SourceSound>;
}
