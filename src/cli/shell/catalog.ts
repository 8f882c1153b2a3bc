import { Command, type Option } from 'commander';
import { type Name, ruleOf, rules } from '../../settings/rules.ts';
import { batchCommand } from '../batch/command.ts';
import { cacheCommand } from '../cache.ts';
import { speakCommand, subcommand } from '../command-line.ts';
import { configCommand } from '../config.ts';
import { doctorCommand } from '../doctor/doctor.ts';
import { loginCommand, logoutCommand } from '../login/login.ts';
import { serveCommand } from '../serve/options.ts';
import { speakersCommand } from '../speakers/speakers.ts';

export function completionCommand(): Command {
  return subcommand(
    'completion',
    'Print a completion script for bash, zsh, fish or powershell (commands, options, files, speakers).',
    [],
  ).argument('[shell]');
}

export function manualCommand(): Command {
  return subcommand('manual', 'Print the manual page: tts manual | man -l -', []);
}

export interface Flag {
  readonly short: string | undefined;
  readonly long: string;
  /** `<file>`; empty for a switch. */
  readonly value: string;
  readonly takes: 'nothing' | 'file' | 'speaker' | 'choice' | 'text';
  readonly choices: readonly string[];
  readonly help: string;
}

export interface Entry {
  readonly name: string;
  readonly help: string;
  /** `[options] [clear]` */
  readonly usage: string;
  readonly flags: readonly Flag[];
  readonly words: readonly string[];
}

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

export function catalog(): Entry[] {
  const entries = [
    entry('speak', speakCommand().description('Speak, also if the text begins with the name of a command.')),
    entry('serve', serveCommand()),
    entry('batch', batchCommand()),
    entry('speakers', speakersCommand()),
    entry('cache', cacheCommand(), ['clear']),
    entry('config', configCommand()),
    entry('login', loginCommand()),
    entry('logout', logoutCommand()),
    entry('doctor', doctorCommand()),
    entry('completion', completionCommand(), SHELLS),
    entry('manual', manualCommand()),
  ];
  const help = new Command()
    .argument('[command]')
    .helpOption(false)
    .description('Show the help of a command.');
  return [
    ...entries,
    entry(
      'help',
      help,
      entries.map(({ name }) => name),
    ),
  ];
}

function entry(name: string, command: Command, words: readonly string[] = []): Entry {
  const flags = command.options.filter((option) => !option.hidden).map(flagOf);
  return { name, help: command.description(), usage: command.usage(), flags, words };
}

function flagOf(option: Option): Flag {
  const { short, long, flags, argChoices, description } = option;
  const name = option.attributeName();
  const choices = argChoices ?? (Object.hasOwn(rules, name) ? ruleOf(name as Name).kind.choices : undefined);
  const value = /[<[].*$/.exec(flags)?.[0] ?? '';
  return {
    short,
    long: long ?? '',
    value,
    takes: takenBy(value, choices),
    choices: choices ?? [],
    help: description,
  };
}

function takenBy(value: string, choices: readonly string[] | undefined): Flag['takes'] {
  if (value === '') return 'nothing';
  if (choices) return 'choice';
  if (value.startsWith('<file')) return 'file';
  return value === '<no|name>' ? 'speaker' : 'text';
}
