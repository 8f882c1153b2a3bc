import type { Command } from 'commander';
import type { Host } from '../kit/host.ts';
import type { Notices } from './notices.ts';

export interface Context {
  readonly argv: readonly string[];
  readonly named: boolean;
  readonly host: Host;
  readonly notices: Notices;
  readonly signal: AbortSignal;
}

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
export function namedCommands(): string[] {
  return [...commands.keys()].filter((name) => name !== 'speak' && name !== 'help');
}

/** The table of commands, in the order in which help and the manual show them. A command is loaded when it is called. */
export const commands: ReadonlyMap<string, () => Promise<CommandModule>> = new Map(
  Object.entries({
    speak: () => import('./speak.ts'),
    serve: () => import('./serve.ts'),
    mcp: () => import('./mcp.ts'),
    batch: () => import('./batch-command.ts'),
    stop: async () => (await import('./channel.ts')).stop,
    pause: async () => (await import('./channel.ts')).pause,
    resume: async () => (await import('./channel.ts')).resume,
    speakers: () => import('./speakers.ts'),
    cache: () => import('./cache.ts'),
    config: () => import('./config.ts'),
    voices: () => import('./voices.ts'),
    login: () => import('./login.ts'),
    logout: async () => (await import('./login.ts')).logout,
    doctor: () => import('./doctor.ts'),
    completion: () => import('./completion.ts'),
    manual: () => import('./manual.ts'),
    help: () => import('./help.ts'),
  }),
);
