import type { Command, Option } from 'commander';
import { usageError } from '../kit/error.ts';
import type { Host } from '../kit/host.ts';
import { printable } from '../kit/words.ts';

export interface Typed {
  readonly argv: readonly string[];
  readonly host: Pick<Host, 'isArgvUtf8'>;
}

/**
 * Node replaces bytes that are not UTF-8 by U+FFFD, so that the program would speak other words.
 * @throws TtsError (usage) naming the argument
 */
export function assertUtf8(command: Command, { argv, host }: Typed): void {
  if (!argv.some(isDamaged)) return;
  const hint = command.name() === 'tts' ? ELSEWHERE : IN_UTF8;
  refuse(damagedOption(command) ?? damagedWord(command.args, hint), host);
}

export function assertWordsUtf8(words: readonly string[], host: Pick<Host, 'isArgvUtf8'>): void {
  refuse(damagedWord(words, IN_UTF8), host);
}

const ELSEWHERE = 'put the text into a file and name that with -f, or send it through a pipe';
const IN_UTF8 = 'write it in UTF-8';

interface Found {
  readonly name: string;
  readonly hint: string;
}

function refuse(found: Found | undefined, host: Pick<Host, 'isArgvUtf8'>): void {
  const isUtf8 = found && host.isArgvUtf8();
  if (!found || isUtf8) return;
  const what =
    isUtf8 === undefined ? 'has a U+FFFD in it: it is not UTF-8, or was damaged before' : 'is not UTF-8';
  throw usageError(`${found.name} ${what}`, found.hint);
}

function damagedOption(command: Command): Found | undefined {
  for (const option of command.options) {
    const value = [command.getOptionValue(option.attributeName())].flat().find(isDamaged);
    if (value !== undefined) return foundIn(option, value);
  }
  return undefined;
}

function damagedWord(words: readonly string[], hint: string): Found | undefined {
  const word = words.find(isDamaged);
  return word === undefined ? undefined : { name: `the word "${printable(word)}"`, hint };
}

function isDamaged(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\uFFFD');
}

/** Only the value of an option that names a file is shown: any other may be a key. */
function foundIn({ long, flags }: Option, value: string): Found {
  if (!flags.includes('<file')) return { name: `the value of ${long}`, hint: IN_UTF8 };
  return {
    name: `${long}: the name "${printable(value)}"`,
    hint: 'rename the file, or what is above it; a text to be read can also come through a pipe',
  };
}
