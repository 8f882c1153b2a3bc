import type { WrittenSize } from '../sound/encode/encoding.ts';
import type { Chapter, Track } from '../sound/pcm.ts';

export interface Delivery extends WrittenSize {
  /** A reader that left ends a run quietly. */
  readonly readerLeft: boolean;
  readonly player?: string;
  /** Their times are in seconds. */
  readonly chapters?: readonly Pick<Chapter, 'title' | 'start' | 'end'>[];
  /** An error beside the output, such as that of the player. The output is complete; the error is thrown at the end. */
  readonly failure?: unknown;
}

/** A place that sound goes to. It is opened before a service is asked, so nothing is paid for in vain. */
export interface Sink {
  /** True for a pipe, a device and a player. */
  readonly isLive: boolean;
  /** Resolves if the reader has left before there is sound. `write` throws errors. */
  readonly readerGone?: Promise<void>;
  /** PCM bytes of the track that a player has played, as an estimate. Missing where all that was written counts as heard. */
  readonly played?: () => number;
  /** Seconds since a player has played all that it got. Missing where silence is a part of the output, as in a file. */
  readonly idle?: () => number;
  /** Pauses or resumes. Missing where nothing is played. */
  pause?(isPaused: boolean): void;
  /**
   * Leaves no file that looks complete if it fails.
   * @throws TtsError (output); what the track throws
   */
  write(track: Track, signal: AbortSignal): Promise<Delivery>;
  /** Never throws. It has no effect after a write. */
  discard(): Promise<void>;
}
