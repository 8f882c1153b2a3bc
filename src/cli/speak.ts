import { ExitCode, usageError } from '../error.ts';
import type { Host } from '../host.ts';
import { type CommandLine, readCommandLine } from './command-line.ts';
import { besideSpeaking } from './command-names.ts';
import type { Context } from './commands.ts';

/** In words, as in `cache clear`. */
const LONGEST_COMMAND = 2;

/** `tts speak`. What it takes to make sound is loaded only once it is known that sound is wanted. */
export async function run(context: Context): Promise<number> {
  const { host, notices } = context;
  const line = readCommandLine(context);
  if (line.help) return (await import('./help.ts')).help(context);
  if (line.version) return (await import('./help.ts')).version(context);
  const input = inputOf(line, host);
  if (!input) {
    notices.print((await import('./help.ts')).shortHelp());
    return ExitCode.usage;
  }
  const command = commandIn(line, context);
  if (command && !line.flags.quiet)
    notices.note(`"${command}" is read as text to speak: a command must come before its options`);
  const { speak } = await import('./speech.ts');
  return speak({ flags: line.flags, ...input }, context);
}

/** The words of one command, where they stand behind an option and nobody said that they are text. */
function commandIn({ words }: CommandLine, { argv, named }: Context): string | undefined {
  const [first = ''] = words;
  const isMeant = named || argv.includes('--') || words.length > LONGEST_COMMAND;
  return (besideSpeaking as readonly string[]).includes(first) && !isMeant ? words.join(' ') : undefined;
}

/** Words, files, or standard input where something may come from it. */
function inputOf(
  { words, files }: CommandLine,
  { stdin }: Host,
): { words: readonly string[]; files: readonly string[] } | undefined {
  if (words.length > 0 && files.length > 0)
    throw usageError(
      'the text is given twice, by words and with -f',
      'quote values with spaces, or leave one of the two out',
    );
  // Spoken, it would be nothing; as in other tools it is standard input.
  if (words.length === 1 && words[0] === '-') return { words: [], files: ['-'] };
  if (files.includes(''))
    throw usageError('-f: "" is no name of a file', 'name the file that holds the text; "-" is stdin');
  if (files.filter((file) => file === '-').length > 1)
    throw usageError('-f - is given twice', 'stdin can be read only once');
  if (words.length > 0 || files.length > 0) return { words, files };
  return stdin.isTTY ? undefined : { words, files: ['-'] };
}
