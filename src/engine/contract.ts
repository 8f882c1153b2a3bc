export interface Speaker {
  readonly no: number;
  readonly name: string;
  /**
   * `neo.one` speakers honour `sample_rate`, `Mermish` speakers honour `instructions`. A far service may have other kinds, or not
   * say any.
   */
  readonly kind: string | undefined;
  /** BCP 47, or espeak-ng's own tag. */
  readonly language: string;
  /** As far as it is known. */
  readonly gender?: 'man' | 'woman' | undefined;
  /** Further tags that the voice is listed under. */
  readonly alsoSpeaks?: readonly string[];
  /** Hz, before any resampling. It is `undefined` until an engine whose answers tell it has spoken. */
  readonly sampleRate: number | undefined;
  /** The name of the engine that brings it; built-in voices and those of espeak-ng have none. */
  readonly engine?: string | undefined;
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
  readonly speaker: Speaker;
  /** Hz. Without it, the voice speaks at its own rate. */
  readonly sampleRate?: number | undefined;
  readonly style: Style;
  /** The words that the style was read from, for an engine that reads them itself. */
  readonly instructions?: string | undefined;
  /** What the client said of streaming, for a far service. */
  readonly stream?: boolean | undefined;
  /**
   * It is called where the sound of an engine does not fit the text: it is too short, too long, or has too much silence inside.
   */
  readonly onCut?: ((message: string, how: CutManner) => void) | undefined;
  /** The caller waits for all of the sound, so that none of it has to leave before it is checked. */
  readonly isWhole?: boolean;
  /** A full queue does not refuse it. */
  readonly isPatient?: boolean;
}

/** Sound of 16-bit mono samples. */
export interface EngineSound {
  /** Hz. */
  readonly sampleRate: number;
  /** The pieces may have any length. */
  readonly samples: AsyncIterable<Int16Array>;
}

/** Makes the sound of its speakers. */
export interface Engine {
  readonly speakers: readonly Speaker[];
  /** It counts the utterances that wait for their first passage. */
  readonly queued: number;
  /**
   * A full queue refuses before the event loop turns: here or at the first read. The caller reads the samples, or aborts.
   * @throws EngineError here and while the samples are read
   */
  speak(utterance: Utterance, signal: AbortSignal): Promise<EngineSound>;
  close(): Promise<void>;
}

/** All engines of a service, as one. */
export interface EngineSet extends Engine {
  /** Threads of Flite that can begin at once. */
  readonly workers: number;
  /** True for a service of somebody else, which reads all options itself and may refuse any text. */
  readonly isFar?: boolean;
  /**
   * The speaker of a number, for a far service, which may have more speakers than are listed.
   * @returns `undefined` for a number that JSON cannot carry exactly
   */
  numbered?(no: number): Speaker | undefined;
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

/** The number of utterances that may wait while an engine is busy. */
export const DEFAULT_MAX_QUEUE = 64;
