import type { Host } from '../host.ts';
import type { Notices } from './terminal/notices.ts';

export interface Context {
  /** The arguments behind the command's name. */
  readonly argv: readonly string[];
  /** True if the command was called by its name. */
  readonly named: boolean;
  readonly host: Host;
  readonly notices: Notices;
  /** Aborts when the process is told to stop, with the error to end with. */
  readonly signal: AbortSignal;
}

/** All commands but `speak` and `help`. */
export const besideSpeaking = [
  'serve',
  'speakers',
  'batch',
  'cache',
  'config',
  'login',
  'logout',
  'doctor',
  'completion',
  'manual',
] as const;

// Options that are not settings.

export const FILE = {
  flags: '-f, --file <file|->',
  help: 'the text from a file (repeatable); "-" is stdin',
};
export const HELP = { flags: '-h, --help', help: 'this help' };
export const VERSION = { flags: '-V, --version', help: 'the version' };
