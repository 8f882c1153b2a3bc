import type { Flags } from '../../settings/resolve.ts';

/** The command line of `tts voices`. */
export interface VoicesLine {
  readonly flags: Flags;
  /** The names after the word of the command. */
  readonly names: readonly string[];
  /** The folder of all data. */
  readonly data: string;
}
