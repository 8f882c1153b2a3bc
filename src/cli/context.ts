import type { Command } from 'commander';
import type { Host } from '../kit/host.ts';
import type { Notices } from './notices.ts';

export interface Context {
  readonly argv: readonly string[];
  readonly named: boolean;
  readonly host: Host;
  readonly notices: Notices;
  readonly signal: AbortSignal;
  readonly commands: Commands;
}

/** A command is loaded when it is called. */
export type Commands = ReadonlyMap<string, () => Promise<CommandModule>>;

export interface CommandModule {
  /** @returns the exit status */
  run(context: Context): Promise<number>;
  /** The command line of the command, for help, completions and the manual. */
  describeCommand(): Command | Promise<Command>;
  /** What completions offer for its arguments. */
  readonly words?: readonly string[];
  /** What they offer behind one of these words. */
  names?(): Promise<readonly string[]>;
}

/** All commands except the one that a text on the command line calls by itself. */
export function namedCommands(commands: Commands): string[] {
  return [...commands.keys()].filter((name) => name !== 'speak' && name !== 'help');
}

export const FILE = {
  flags: '-f, --file <file|->',
  help: 'the text from a file (repeatable); "-" is stdin',
};
export const HELP = { flags: '-h, --help', help: 'this help' };
export const VERSION = { flags: '-V, --version', help: 'the version' };
