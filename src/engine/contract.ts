export interface Speaker {
  readonly no: number;
  readonly name: string;
  /** `neo.one` speakers honour `sample_rate`, `Mermish` speakers honour `instructions`. */
  readonly kind: 'neo.one' | 'Mermish';
  /** BCP 47, or espeak-ng's own tag. */
  readonly language: string;
  /** Hz, before any resampling. */
  readonly sampleRate: number;
}

/** Factors; 1 changes nothing. */
export interface Style {
  /** 0.25 to 4; 2 is twice as fast. */
  readonly rate: number;
  /** Of the fundamental frequency: 0.5 to 2. */
  readonly pitch: number;
  /** Of the amplitude: 0.1 to 2. */
  readonly loudness: number;
  /** Of the silence between sentences: 0 to 5. */
  readonly pause: number;
}

export interface Utterance {
  readonly text: string;
  readonly speaker: Speaker;
  /** Hz. */
  readonly sampleRate: number;
  readonly style: Style;
  /** A full queue does not refuse it. */
  readonly isPatient?: boolean;
}

/** Makes the sound of its speakers. */
export interface Engine {
  readonly speakers: readonly Speaker[];
  /** Before their first passage. */
  readonly queued: number;
  /**
   * The first read refuses a full queue before the event loop turns.
   * @returns 16-bit mono samples
   * @throws Refusal 422 `unsupported_text`, 503 `busy` for a full queue, 500 `engine_failed` when a worker died
   */
  speak(utterance: Utterance, signal: AbortSignal): AsyncIterable<Int16Array>;
  close(): Promise<void>;
}

/** All engines of a service, as one. */
export interface EngineSet extends Engine {
  /** Threads of Flite that can begin at once. */
  readonly workers: number;
}

interface RefusalOptions {
  readonly field?: string | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
}

export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** 400 to 599; from 300 on for `--fault`. */
  readonly status: number;
  /** In snake_case. */
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

/** Refuses an utterance for which a queue has no place. */
export function queueFull(): Refusal {
  return new Refusal(503, 'busy', 'too many requests wait already');
}

export const DEFAULT_HOST = '127.0.0.1';

/** While all workers are busy. */
export const DEFAULT_MAX_QUEUE = 64;

/** Characters: nine hours of speech. */
export const DEFAULT_MAX_TEXT = 500_000;

/** Seconds. */
export const DEFAULT_RETRY_AFTER = 1;

/** Of one client. Times in milliseconds. */
export interface Limits {
  /** Bytes of a request body. */
  readonly body: number;
  readonly connections: number;
  /** Of one address without a request; the oldest are closed. */
  readonly idle: number;
  readonly headers: number;
  readonly request: number;
  /** Without a byte going out. */
  readonly stall: number;
  readonly callbacks: number;
  /** Of one try. */
  readonly callbackTry: number;
  /** Doubled for each further try. */
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
