import type { Command, Option } from 'commander';
import { type TtsError, usageError } from '../error.ts';
import { printable } from '../printable.ts';

/**
 * Node hands over bytes that are not UTF-8 as U+FFFD: other words would be spoken, and a file of another name written.
 * @throws TtsError (usage) naming the argument
 */
export function assertUtf8(command: Command): void {
  for (const option of command.options) {
    const value = [command.getOptionValue(option.attributeName())].flat().find(isDamaged);
    if (value !== undefined) throw damagedOption(option, value);
  }
  const word = command.args.find(isDamaged);
  if (word === undefined) return;
  const isText = command.name() === 'tts';
  throw usageError(
    `the word "${printable(word)}" is not UTF-8`,
    isText ? 'put the text into a file and name that with -f, or send it through a pipe' : IN_UTF8,
  );
}

const IN_UTF8 = 'write it in UTF-8';

function isDamaged(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\uFFFD');
}

/** A value is shown only where it is a name: it may be a key. */
function damagedOption({ long, flags }: Option, value: string): TtsError {
  if (!flags.includes('<file')) return usageError(`the value of ${long} is not UTF-8`, IN_UTF8);
  return usageError(
    `${long}: the name "${printable(value)}" is not UTF-8`,
    'rename the file, or what is above it; a text to be read can also come through a pipe',
  );
}
