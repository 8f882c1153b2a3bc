import { Command, type Option } from 'commander';
import { usageError } from '../error.ts';
import type { Name } from '../settings/rules.ts';
import { addRules, type CommandLine, howToSpeak, parse } from './command-line.ts';
import type { Context } from './commands.ts';
import { HELP } from './common-options.ts';
import { tell } from './tell.ts';

/** The settings honoured by every command that asks a service for sound. */
export const OF_REQUESTS: readonly Name[] = [
  'stream',
  'sampleRate',
  'instructions',
  'baseUrl',
  'apiKey',
  'cache',
  'timeout',
  'retries',
  'proxy',
  'allowInsecureHttp',
  'config',
  'quiet',
  'verbose',
  'json',
];

/** A command beside `speak`, with its own options and those of the settings that it heeds. */
export function subcommand(
  name: string,
  description: string,
  settings: readonly Name[],
  own: readonly Option[] = [],
): Command {
  const command = new Command(`tts ${name}`)
    .description(description)
    .helpOption(false)
    .allowExcessArguments();
  for (const option of own) command.addOption(option);
  return addRules(command, settings).option(HELP.flags, HELP.help);
}

interface Reading {
  /** So many words at most. */
  readonly most?: number;
  readonly complain?: Parameters<typeof parse>[2];
}

/**
 * Reads the arguments of a command.
 * @returns `undefined` where help was asked for, and given
 * @throws TtsError (usage)
 */
export function readSubcommand(
  command: Command,
  context: Pick<Context, 'argv' | 'host'>,
  { most = 0, complain }: Reading = {},
): Pick<CommandLine, 'flags' | 'words'> | undefined {
  const { help = false, ...flags } = parse(command, context, complain).opts();
  if (help) {
    tell(context.host.stdout, command.helpInformation().trimEnd());
    return undefined;
  }
  const [excess] = command.args.slice(most);
  if (excess === undefined) return { flags, words: command.args };
  throw usageError(
    `${command.name()} does not know "${excess}"`,
    `see ${command.name()} --help; ${howToSpeak(command.name())}`,
  );
}
