import type { RunContext } from '../kit/host.ts';
import type { Flags } from '../options/load.ts';
import type { CommandName } from '../options/option.ts';
import type { Notices } from './notices.ts';

export interface Context extends RunContext {
  /** Arguments after the name of the command. */
  readonly argv: readonly string[];
  /** False if no command was typed, so that `speak` runs. */
  readonly named: boolean;
  readonly notices: Notices;
}

/** The options and words found in `Context.argv`. */
export interface CommandLine {
  readonly flags: Flags;
  readonly words: readonly string[];
}

export interface CommandModule {
  /** @returns the exit status */
  run(line: CommandLine, context: Context): Promise<number>;
  /** Names that completions offer after one of the words of the command. */
  names?(): Promise<readonly string[]>;
}

interface Command {
  /** What the command does, for help, completions and the manual. */
  readonly help: string;
  /** The command whose options are taken, often its own; without it, none are. */
  readonly options?: CommandName;
  /** The words that are taken, as in `[table...]`; without it, none are. */
  readonly argument?: string;
  /** The largest number of words, if there is one. */
  readonly most?: number;
  /** The values that the first word may have. */
  readonly words?: readonly string[];
  /** True if errors must not quote unknown words and options, which may be keys. */
  readonly isSecretive?: true;
  /** Loads the module of the command, only when the command is called. */
  load(): Promise<CommandModule>;
}

/** The help option, which every command takes. */
export const HELP = { flags: '-h, --help', help: 'this help' };

/** The version option, which only `tts` itself takes. */
export const VERSION = { flags: '-V, --version', help: 'the version' };

/** The table of commands, in the order in which help and the manual show them. */
export const commands: ReadonlyMap<string, Command> = new Map(
  Object.entries<Command>({
    speak: {
      help: 'Speak, also if the text begins with the name of a command.',
      options: 'speak',
      argument: '[text...]',
      load: () => import('./speak.ts'),
    },
    serve: {
      help: 'Run the text-to-speech service (POST /tts) on this machine; no network is needed.',
      options: 'serve',
      load: () => import('./serve.ts'),
    },
    mcp: {
      help: 'Speak for an agent: a server of the Model Context Protocol on stdin and stdout.',
      options: 'mcp',
      load: () => import('./mcp.ts'),
    },
    batch: {
      help: 'Read a table (CSV, TSV, JSONL, PSV) with columns id and text; write one sound file for each row.',
      options: 'batch',
      argument: '<table...>',
      load: () => import('./batch.ts'),
    },
    stop: {
      help: 'Stop what speaks on this terminal, or on --channel.',
      options: 'stop',
      load: async () => (await import('./channel.ts')).stop,
    },
    pause: {
      help: 'Pause what speaks on this terminal, or on --channel.',
      options: 'stop',
      load: async () => (await import('./channel.ts')).pause,
    },
    resume: {
      help: 'Resume what tts pause has paused.',
      options: 'stop',
      load: async () => (await import('./channel.ts')).resume,
    },
    speakers: {
      help: 'List the speakers that a config file names, and those of the service or of this machine.',
      options: 'speakers',
      load: () => import('./speakers.ts'),
    },
    cache: {
      help: 'Show where the cache of spoken segments is and how much it holds (TTS_CACHE_DIR names another folder). clear: remove them.',
      options: 'cache',
      argument: '[clear]',
      most: 1,
      words: ['clear'],
      load: () => import('./cache.ts'),
    },
    config: {
      help: 'Show every setting, its value and where it came from, and the config files.',
      options: 'speak',
      load: () => import('./config.ts'),
    },
    voices: {
      help: 'List natural voices that can be installed and those that are. install: download voices by name, and check them. remove, verify: the ones that are installed. HF_ENDPOINT names a mirror, TTS_DATA_DIR another folder.',
      options: 'voices',
      argument: '[install|remove|verify]',
      words: ['install', 'remove', 'verify'],
      load: () => import('./voices.ts'),
    },
    login: {
      help: 'Keep the key of a service in a file of its own, for that base URL only.',
      options: 'login',
      argument: '[base-url]',
      most: 1,
      isSecretive: true,
      load: () => import('./login.ts'),
    },
    logout: {
      help: 'Forget the key that tts login has stored for a base URL.',
      options: 'login',
      argument: '[base-url]',
      most: 1,
      isSecretive: true,
      load: async () => (await import('./login.ts')).logout,
    },
    doctor: {
      help: 'Check everything that speaking needs, and say how to fix what is wrong.',
      options: 'doctor',
      load: () => import('./doctor.ts'),
    },
    completion: {
      help: 'Print a completion script for bash, zsh, fish or powershell (commands, options, files, speakers).',
      argument: '[shell]',
      most: 1,
      words: ['bash', 'zsh', 'fish', 'powershell'],
      load: () => import('./completion.ts'),
    },
    manual: {
      help: 'Print the manual page: tts manual | man -l -',
      load: () => import('./manual.ts'),
    },
    help: {
      help: 'Show the help of a command or a topic.',
      argument: '[command|topic]',
      load: () => import('./help.ts'),
    },
  }),
);

/** Returns all commands but `help`, and `speak`, which runs without its name, too. */
export function namedCommands(): string[] {
  return [...commands.keys()].filter((name) => name !== 'speak' && name !== 'help');
}

/** @throws RangeError for an unknown name */
export function commandOf(name: string): Command {
  const command = commands.get(name);
  if (command) return command;
  throw new RangeError(`there is no command ${name}`);
}
