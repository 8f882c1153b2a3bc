import type { Host } from '../host.ts';
import type { Notices } from './terminal/notices.ts';

export interface Context {
  readonly argv: readonly string[];
  readonly named: boolean;
  readonly host: Host;
  readonly notices: Notices;
  readonly signal: AbortSignal;
}

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

export const FILE = {
  flags: '-f, --file <file|->',
  help: 'the text from a file (repeatable); "-" is stdin',
};
export const HELP = { flags: '-h, --help', help: 'this help' };
export const VERSION = { flags: '-V, --version', help: 'the version' };
