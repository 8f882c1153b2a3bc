import type { WrittenSize } from '../sound/encode/encoding.ts';
import type { Chapter, Track } from '../sound/pcm.ts';

/** The result of writing a track. */
export interface Delivery extends WrittenSize {
  /** True if the reader closed the pipe or player early, which ends a run without an error. */
  readonly readerLeft: boolean;
  readonly player?: string;
  /** Chapters with times in seconds. */
  readonly chapters?: readonly Pick<Chapter, 'title' | 'start' | 'end'>[];
  /** An error outside the output, such as the player's. The output is complete; the caller throws the error at the end. */
  readonly failure?: unknown;
}

/** A destination of sound. It is opened before any request to a service, so that no sound is paid for in vain. */
export interface Sink {
  /** True for a pipe, a device or a live player, whose sound is heard while it is made. */
  readonly isLive: boolean;
  /** Resolves if the reader leaves before there is sound. Never rejects: `write` throws errors. */
  readonly readerGone?: Promise<void>;
  /** Estimated PCM bytes of the track that were played. Missing if everything that was written counts as heard. */
  readonly played?: () => number;
  /** Seconds since the player ran out of sound. Missing if silence is part of the output, as in a file. */
  readonly idle?: () => number;
  /** Pauses or resumes. Missing if nothing is played. */
  pause?(isPaused: boolean): void;
  /**
   * Writes a track. If it fails, no file is left that looks complete.
   * @throws TtsError (output); what the track throws
   */
  write(track: Track, signal: AbortSignal): Promise<Delivery>;
  /** Closes an unused sink. Never throws, and has no effect after a write. */
  discard(): Promise<void>;
}
