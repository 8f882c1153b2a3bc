import type { Option } from 'commander';
import { type Name, ruleOf, rules } from '../../settings/rules.ts';
import type { CommandModule, Context } from '../context.ts';

export interface Flag {
  readonly short: string | undefined;
  readonly long: string;
  /** The value, as in `<file>`. It is empty for a switch. */
  readonly value: string;
  readonly takes: 'nothing' | 'file' | 'speaker' | 'choice' | 'text';
  readonly choices: readonly string[];
  readonly help: string;
}

export interface Entry {
  readonly name: string;
  readonly help: string;
  /** The words after the command, as in `[options] [clear]`. */
  readonly usage: string;
  readonly flags: readonly Flag[];
  readonly words: readonly string[];
  /** What may follow one of these words. */
  readonly names: readonly string[];
}

/** All commands, `speak` first. */
export async function catalog({ commands }: Pick<Context, 'commands'>): Promise<Entry[]> {
  return Promise.all([...commands].map(async ([name, load]) => entryOf(name, await load())));
}

async function entryOf(name: string, module: CommandModule): Promise<Entry> {
  const { words = [] } = module;
  const command = await module.describeCommand();
  const names = (await module.names?.()) ?? [];
  const flags = command.options.filter((option) => !option.hidden).map(flagOf);
  return { name, help: command.description(), usage: command.usage(), flags, words, names };
}

function flagOf(option: Option): Flag {
  const { short, long, flags, argChoices, description } = option;
  const name = option.attributeName();
  const choices = argChoices ?? (Object.hasOwn(rules, name) ? ruleOf(name as Name).kind.choices : undefined);
  const value = /[<[].*$/s.exec(flags)?.[0] ?? '';
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
