/** A voice as the service numbers it. */
export interface Speaker {
  readonly no: number;
  readonly name: string;
  /** `neo.one` speakers honour `sample_rate`, `Mermish` speakers honour `instructions`. */
  readonly kind: 'neo.one' | 'Mermish';
  /** BCP 47, or what espeak-ng has instead. */
  readonly language: string;
  /** The rate in Hz at which the voice is made, before any resampling. */
  readonly sampleRate: number;
}

/** How a voice is to be used; 1 is as it is. */
export interface Style {
  /** Speed: 2 is twice as fast. 0.25 to 4. */
  readonly rate: number;
  /** Factor of the fundamental frequency. 0.5 to 2. */
  readonly pitch: number;
  /** Factor of the amplitude. 0.1 to 2. */
  readonly loudness: number;
  /** Factor of the silence between sentences. 0 to 5. */
  readonly pause: number;
}

export interface Utterance {
  readonly text: string;
  readonly speaker: Speaker;
  /** Hz of the samples wanted. */
  readonly sampleRate: number;
  readonly style: Style;
  /** Never refused because too many wait, and not one of them; whoever asks for it keeps their number small. */
  readonly isPatient?: boolean;
}

/** What speaks: 16-bit mono samples for a text. The service owns the port; flite and espeak-ng stand behind it. */
export interface Engine {
  readonly speakers: readonly Speaker[];
  /** Workers that are alive and ready for work. */
  readonly workers: number;
  /** Utterances that wait until a worker has time for their first segment. */
  readonly queued: number;
  /**
   * Yields samples as each part of the text is ready; an early `return` or the signal stops the synthesis. Nothing
   * happens before the first part is asked for, and refusals come with it: that of a full queue before the event loop
   * turns, so that who hears nothing by then has been admitted.
   *
   * @throws Refusal 422 `unsupported_text` when the text has nothing that the voice can speak, 503 `busy` when the
   * queue is full and it is not patient, 500 `engine_failed` when a worker died; the reason of the signal
   */
  speak(utterance: Utterance, signal: AbortSignal): AsyncIterable<Int16Array>;
  close(): Promise<void>;
}

interface RefusalOptions {
  readonly field?: string | undefined;
  /** Seconds after which a further try makes sense. */
  readonly retryAfter?: number | undefined;
}

/** An answer other than audio: what the service says to a request that it cannot or will not fulfil. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** HTTP status: 400 to 599, or from 300 on where `--fault` asks for one. */
  readonly status: number;
  /** A word for programs, in snake_case. */
  readonly code: string;
  readonly field: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, { field, retryAfter }: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}

// What holds where nobody says otherwise; `tts serve --help` tells of it, without loading the service.

/** Nobody but this machine can connect. */
export const DEFAULT_HOST = '127.0.0.1';

/** Utterances that may wait for their first turn while all workers are busy. */
export const DEFAULT_MAX_QUEUE = 64;

/** Characters of the longest text: about nine hours of speech. What bounds a request is the size of its body. */
export const DEFAULT_MAX_TEXT = 500_000;

/** Seconds to stay away for after a 429 or 503, when nobody knows better: by then several sentences are done. */
export const DEFAULT_RETRY_AFTER = 1;

/** What one client may take from the others. Times in ms. */
export interface Limits {
  /** Longest body of a request, in bytes. */
  readonly body: number;
  /** Connections open at once; further ones are closed. */
  readonly connections: number;
  /** Connections of one address on which no request is under way; behind it, the oldest of them is closed. */
  readonly idle: number;
  /** Time for the headers of a request to arrive. */
  readonly headers: number;
  /** Time for a request to arrive whole. */
  readonly request: number;
  /** Time without a byte going out, while there are some, until the client counts as gone. */
  readonly stall: number;
  /** Callbacks accepted and not delivered yet. */
  readonly callbacks: number;
  /** Time for one try of a callback. */
  readonly callbackTry: number;
  /** Wait before the second try of a callback; it doubles from try to try. */
  readonly callbackBackoff: number;
}

export const defaultLimits: Limits = {
  body: 1024 * 1024,
  connections: 2048,
  idle: 1024,
  headers: 10_000,
  request: 30_000,
  stall: 300_000,
  callbacks: 100,
  callbackTry: 30_000,
  callbackBackoff: 1_000,
};
