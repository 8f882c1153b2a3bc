import type { Speech } from '../audio/pcm.ts';
import { ExitCode, TtsError } from '../error.ts';

export interface Delivery {
  /** Of sound. A reader that left may have taken fewer. */
  readonly bytes: number;
  /** Header and padding. */
  readonly overheadBytes: number;
  /** A reader that left ends a run quietly. */
  readonly readerLeft: boolean;
  readonly player?: string;
  /** Beside the complete sound, such as the player's. Thrown at the end. */
  readonly failure?: unknown;
}

/** Opens before the service is asked: nothing is paid for in vain. */
export interface Sink {
  /** A pipe or a player. */
  readonly isLive: boolean;
  /** The reader has left before there is sound. `write` throws errors. */
  readonly left?: Promise<void>;
  /**
   * Leaves no file that looks complete if it fails.
   * @throws TtsError (output); what the speech throws
   */
  write(speech: Speech, signal: AbortSignal): Promise<Delivery>;
  /** Never throws. Has no effect after a write. */
  discard(): Promise<void>;
}

/**
 * A header cannot be corrected.
 * @throws TtsError (service)
 */
export function assertAsPromised(bytes: number, promised: number | undefined): void {
  if (promised === undefined || bytes === promised) return;
  throw new TtsError(`the audio has ${bytes} bytes where its header says ${promised}`, {
    exitCode: ExitCode.service,
    hint: 'the service sent another length than it told at first: try again, with -o',
  });
}
