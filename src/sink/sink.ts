import type { Speech } from '../audio/pcm.ts';
import { ExitCode, TtsError } from '../error.ts';

export interface Delivery {
  /** Bytes of sound that were handed over, headers not counted. A reader that left may not have taken all of them. */
  readonly bytes: number;
  /** Bytes beside them: the header, which depends on what was known of the sound by then, and padding. */
  readonly overheadBytes: number;
  /** The reader went away before the end, which ends a run quietly. */
  readonly readerLeft: boolean;
  /** The program that was given the sound, where it is a player. */
  readonly player?: string;
  /** What went wrong beside it, such as the player, though all of the sound is where it belongs. To be thrown at the end. */
  readonly failure?: unknown;
}

/** Where a WAV goes. It is opened before anything is asked of a service, so that nothing is paid for in vain. */
export interface Sink {
  /** Whether somebody may hear it while it is made. */
  readonly isLive: boolean;
  /** Resolves when the reader has left, where that can show before there is any sound. A failure is told by `write`. */
  readonly left?: Promise<void>;
  /**
   * Writes all of it, or fails and leaves nothing that looks whole.
   * @throws TtsError (output) when it cannot be written; what the speech throws passes through
   */
  write(speech: Speech, signal: AbortSignal): Promise<Delivery>;
  /**
   * There is nothing to write after all: leaves no trace, as far as that can be, and never fails, since what ended the run
   * matters more. Of no consequence once something was written.
   */
  discard(): Promise<void>;
}

/**
 * Where the header cannot be put right any more by the time that a repeated request turns out longer or shorter: better
 * said than hidden.
 * @param promised by that header; `undefined` where it promises nothing
 * @throws TtsError (service)
 */
export function assertAsPromised(bytes: number, promised: number | undefined): void {
  if (promised === undefined || bytes === promised) return;
  throw new TtsError(`the audio has ${bytes} bytes where its header says ${promised}`, {
    exitCode: ExitCode.service,
    hint: 'the service sent another length than it told at first: try again, with -o',
  });
}
