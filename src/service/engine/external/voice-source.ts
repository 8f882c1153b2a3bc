import type { Speaker } from '../contract.ts';

/** A voice of an engine that does not belong to this program. */
export interface SourceVoice {
  /** As the engine calls it. */
  readonly name: string;
  /** BCP 47; "und" where the engine does not tell. */
  readonly language: string;
  /** Frames per second. */
  readonly sampleRate: number;
}

/** 16-bit mono samples as they come from an engine. */
export interface SourceSound {
  /** Frames per second. */
  readonly sampleRate: number;
  /** Pieces of any length. */
  readonly samples: AsyncIterable<Int16Array>;
}

/** An engine that is ready to speak, with the number of its first voice in the service. */
export interface NumberedSource {
  readonly source: VoiceSource;
  readonly firstNumber: number;
}

/** The voices of an engine as the service numbers them. */
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

/** An engine beside the built-in one: a server, a program, or a model in a process of its own. */
export interface VoiceSource extends AsyncDisposable {
  /** As the configuration calls it; the host or the folder of an engine that was named on the command line. */
  readonly name: string;
  /** What shapes its sound beside text and voice. A changed model has another identity. */
  readonly identity: string;
  /** In the engine's own order; at least one. */
  readonly voices: readonly SourceVoice[];
  /** True for a server that does not list its voices: any name may be one. */
  readonly takesAnyVoice: boolean;
  /** Adds a voice behind the others, where any name may be one. */
  addVoice?(name: string): void;
  /** Characters (code points) of the longest text that the engine speaks whole. */
  readonly maxChars: number;
  /** Texts that the engine speaks at once. */
  readonly concurrency: number;
  /**
   * Speaks one text of at most `maxChars` characters.
   * @throws Refusal 429 or 503 that the engine sent; 502 `engine_failed` with the engine's own words, here and while the
   * samples are read; the reason of the signal
   */
  speak(text: string, voice: SourceVoice, signal: AbortSignal): Promise<SourceSound>;
}
