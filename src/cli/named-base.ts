import type { Command } from 'commander';
import { usageError } from '../error.ts';
import { baseUrl } from '../settings/kind.ts';
import type { Settings } from '../settings/resolve.ts';
import { howToSpeak } from './command-line.ts';
import { subcommand } from './subcommand.ts';

/** A command about the key of one service. */
export function baseCommand(name: string, description: string): Command {
  return subcommand(name, description, ['baseUrl', 'config', 'quiet', 'json']).argument('[base-url]');
}

/**
 * The base URL that a command is about: the word behind it, else the one that is set.
 * @throws TtsError (usage) where there is none, or only one that the owner of the key did not name
 */
export function namedBase(word: string | undefined, settings: Settings, command: string): URL {
  if (word !== undefined) return parsed(word, command);
  const { baseUrl: set } = settings;
  if (!set)
    throw usageError('no base URL is set', `name the service: ${command} https://tts.example.com/api`);
  if (set.origin.place === 'project')
    throw usageError(
      `${set.value.href} is only named by ${set.origin.name}`,
      `if you mean it: ${command} ${set.value.href}`,
    );
  return set.value;
}

function parsed(word: string, command: string): URL {
  const url = baseUrl.text(word);
  if (url) return url;
  throw usageError(
    `${command}: ${JSON.stringify(word)} is not allowed`,
    `${baseUrl.allowed} is needed; ${howToSpeak(command)}`,
  );
}
