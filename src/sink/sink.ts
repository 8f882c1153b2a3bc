import type { Speech } from '../audio/pcm.ts';
import { ExitCode, TtsError } from '../error.ts';

export interface Delivery {
  /** Of sound, without headers. A reader that left may have taken fewer. */
  readonly bytes: number;
  /** Header and padding. */
  readonly overheadBytes: number;
  /** True if the reader left early, which ends a run quietly. */
  readonly readerLeft: boolean;
  /** If it is a player. */
  readonly player?: string;
  /** An error beside the complete sound, such as the player's. Thrown at the end. */
  readonly failure?: unknown;
}

/** The destination of a WAV. It opens before the service is asked, so that nothing is paid for in vain. */
export interface Sink {
  /** True if the output is heard live (a pipe or a player). */
  readonly isLive: boolean;
  /** Resolves when the reader has left, if that shows before there is sound. `write` throws errors. */
  readonly left?: Promise<void>;
  /**
   * Leaves no file that looks complete if it fails.
   * @throws TtsError (output); what the speech throws
   */
  write(speech: Speech, signal: AbortSignal): Promise<Delivery>;
  /** Leaves no trace and never throws. Has no effect after a write. */
  discard(): Promise<void>;
}

/**
 * The header promised another length than a repeated request delivered, and cannot be corrected.
 * @param promised `undefined` for no promise
 * @throws TtsError (service)
 */
export function assertAsPromised(bytes: number, promised: number | undefined): void {
  if (promised === undefined || bytes === promised) return;
  throw new TtsError(`the audio has ${bytes} bytes where its header says ${promised}`, {
    exitCode: ExitCode.service,
    hint: 'the service sent another length than it told at first: try again, with -o',
  });
}
