import type { Command, CommanderError } from 'commander';
import { type TtsError, usageError } from '../../error.ts';
import { baseUrl } from '../../settings/kind.ts';
import type { Settings } from '../../settings/resolve.ts';
import {
  type CommandLine,
  howToSpeak,
  nearestOption,
  readSubcommand,
  subcommand,
  usage,
} from '../command-line.ts';
import type { Context } from '../context.ts';

export function baseCommand(name: string, description: string): Command {
  return subcommand(name, description, ['baseUrl', 'config', 'quiet', 'json']).argument('[base-url]');
}

/**
 * An unknown argument is never quoted: it may be the key.
 * @returns `undefined` after `--help`
 * @throws TtsError (usage)
 */
export function readBase(
  command: Command,
  context: Pick<Context, 'argv' | 'host'>,
): Pick<CommandLine, 'flags' | 'words'> | undefined {
  const line = readSubcommand(command, context, { most: Number.POSITIVE_INFINITY, complain });
  if (line && line.words.length > 1) throw misplaced(command.name(), 'takes one base URL and no other word');
  return line;
}

function complain(error: CommanderError, command: Command): TtsError {
  const isKnownKind = /'-.'/.test(error.message) || nearestOption(error.message, command) !== undefined;
  if (error.code !== 'commander.unknownOption' || isKnownKind) return usage(error, command);
  return misplaced(command.name(), 'does not know one of these options');
}

function misplaced(command: string, what: string): TtsError {
  return usageError(
    `${command} ${what}`,
    `tts login asks for the key or reads it from stdin: tts login URL < key-file; ${howToSpeak(command)}`,
  );
}

/**
 * Takes the argument, or else the setting. A trailing `/tts` is taken off.
 * @throws TtsError (usage) if there is none, or a project's config set it
 */
export function namedBase(word: string | undefined, settings: Settings, command: string): URL {
  if (word !== undefined) return parsed(word, command);
  const { baseUrl: set } = settings;
  const stored = [...(settings.keys?.value.keys() ?? [])].join(', ');
  if (!set)
    throw usageError(
      'no base URL is set',
      `name the service: ${command} https://tts.example.com/api${stored && `; keys are stored for ${stored}`}`,
    );
  if (set.origin.place === 'project')
    throw usageError(
      `${set.value.href} is only named by ${set.origin.name}`,
      `if you mean it: ${command} ${set.value.href}`,
    );
  return set.value;
}

function parsed(word: string, command: string): URL {
  const url = baseUrl.text(word.replace(/\/tts\/?$/, ''));
  if (url) return url;
  throw misplaced(command, `takes a base URL, and was given another word; expected ${baseUrl.allowed}`);
}
