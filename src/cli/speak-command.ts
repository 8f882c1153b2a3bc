import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { pathOf } from '../kit/folders.ts';
import { textHint } from '../kit/hints.ts';
import type { Host } from '../kit/host.ts';
import { isOneLetterOff } from '../kit/words.ts';
import { ENDINGS, formatOfName } from '../read/reading.ts';
import { type CommandLine, readCommandLine, speakCommand } from './command-line.ts';
import { type Commands, type Context, namedCommands } from './context.ts';
import { FIRST_STEPS, help, version } from './help.ts';

/** Words, as in `cache clear`. */
const LONGEST_COMMAND = 2;

export function describeCommand(): Command {
  return speakCommand().description('Speak, also if the text begins with the name of a command.');
}

export async function run(context: Context): Promise<number> {
  const { notices } = context;
  const line = readTyped(context);
  if (line.help) return help(context);
  if (line.version) return version(context);
  assertNoFile(line.flags.instructions, context.host);
  const file = fileOf(line, context);
  const input = file === undefined ? inputOf(line, context) : { words: [], files: [file] };
  if (!input) {
    notices.print(FIRST_STEPS);
    return ExitCode.usage;
  }
  const note =
    file === undefined
      ? await likelyMistake(line, context)
      : `${file} is a file, so what is in it is spoken; with -- in front of it, its name`;
  if (note !== undefined && !line.flags.quiet) notices.note(note);
  const { speak } = await import('./speak.ts');
  return speak({ flags: line.flags, ...input }, context);
}

/** A mistyped command shows itself by options that only the command has. */
function readTyped(context: Context): CommandLine {
  try {
    return readCommandLine(context);
  } catch (error) {
    const { argv, named, commands } = context;
    const [first = ''] = argv;
    const meant = named ? undefined : nearCommand(first, commands);
    if (!(error instanceof TtsError) || meant === undefined) throw error;
    throw usageError(`"${first}" is not a command: ${error.message}`, `did you mean tts ${meant}?`);
  }
}

/** `tts speak` and `--` say that words are to be spoken, whatever they look like. */
function areForSpeaking({ named, argv }: Pick<Context, 'named' | 'argv'>): boolean {
  return named || argv.includes('--');
}

/** The only word, if it names a text or a book that is there. */
function fileOf({ words, files }: CommandLine, context: Context): string | undefined {
  const [word, ...more] = words;
  if (word === undefined || more.length > 0 || files.length > 0 || areForSpeaking(context)) return undefined;
  return isReadable(word, context.host) ? word : undefined;
}

function isReadable(name: string, host: Pick<Host, 'cwd'>): boolean {
  return formatOfName(name) !== undefined && areFiles([name], host);
}

/** In other tools, `-i` names the text. */
function assertNoFile(instructions: unknown, host: Pick<Host, 'cwd'>): void {
  if (typeof instructions !== 'string' || !isReadable(instructions, host)) return;
  throw usageError(
    `--instructions: ${instructions} is a file`,
    `-f ${instructions} speaks what is in it; -i says how a voice is to speak: -i "slowly"`,
  );
}

async function likelyMistake({ words }: CommandLine, context: Context): Promise<string | undefined> {
  const { argv, host, commands } = context;
  if (areForSpeaking(context)) return undefined;
  const [first = ''] = words;
  if (namedCommands(commands).includes(first) && words.length <= LONGEST_COMMAND)
    return `"${words.join(' ')}" is read as text to speak: a command must come before its options`;
  const meant = nearCommand(first, commands);
  if (meant !== undefined && (await isFollowedBy(words.slice(1), meant, context)))
    return `"${first}" is not a command, so it is spoken; did you mean tts ${[meant, ...words.slice(1)].join(' ')}?`;
  if (words.length === 1 && isMissingFile(first, host))
    return `there is no file ${first}, so its name is spoken; -f speaks what is in a file`;
  const hint = textHint(words.join(' '));
  if (hint !== undefined) return `the text is spoken as it stands; ${hint}`;
  const voice = voiceBehindV(words, argv);
  if (voice !== undefined)
    return `-v is --verbose, so "${voice}" is spoken; -s ${voice} would choose a voice of that name`;
  if (areFiles(words, host)) return `the name ${first} is spoken; -f ${first} speaks what is in that file`;
  return undefined;
}

/** Other speech tools choose a voice with `-v NAME`. A single word is a name only if it looks like one. */
function voiceBehindV(words: readonly string[], argv: readonly string[]): string | undefined {
  const [first = ''] = words;
  const isBehind = argv.includes('-v') && argv[argv.indexOf('-v') + 1] === first;
  const looksLikeName = /^[\p{L}\d]+$/u.test(first) && words.length > 1;
  return isBehind && (looksLikeName || /^[\p{L}\d]+(?:[_+-][\p{L}\d]+)+$/u.test(first)) ? first : undefined;
}

function nearCommand(word: string, commands: Commands): string | undefined {
  return [...commands.keys()].find((name) => isOneLetterOff(word, name));
}

/** True for nothing, for "install" in `voies install cori`, and for the file in `bacth prompts.csv`. */
async function isFollowedBy(
  rest: readonly string[],
  command: string,
  { commands, host }: Pick<Context, 'commands' | 'host'>,
): Promise<boolean> {
  const [word] = rest;
  if (word === undefined || areFiles(rest, host)) return true;
  const { words = [] } = (await commands.get(command)?.()) ?? {};
  return words.includes(word);
}

/** What people have texts in. */
const TEXT_ENDINGS = [...Object.values(ENDINGS).flat(), '.csv', '.srt', '.pdf', '.docx', '.log'];

function isMissingFile(word: string, { cwd }: Pick<Host, 'cwd'>): boolean {
  const ending = /^\S*[^\s.](\.[a-z]{2,8})$/i.exec(word)?.[1]?.toLowerCase();
  if (ending === undefined || areFiles([word], { cwd })) return false;
  return TEXT_ENDINGS.some(
    (known) => known === ending || (known.length > 3 && isOneLetterOff(ending, known)),
  );
}

function areFiles(words: readonly string[], { cwd }: Pick<Host, 'cwd'>): boolean {
  const isFile = (word: string) => {
    try {
      return /\.\w+$/.test(word) && statSync(pathOf(cwd, word)).isFile();
    } catch {
      return false;
    }
  };
  return words.length > 0 && words.every(isFile);
}

function inputOf(
  { words, files }: CommandLine,
  { host, argv }: Pick<Context, 'host' | 'argv'>,
): { words: readonly string[]; files: readonly string[] } | undefined {
  if (words.length > 0 && files.length > 0) throw givenTwice(words, files, { host, argv });
  if (words.length === 1 && words[0] === '-') return { words: [], files: ['-'] };
  if (files.includes(''))
    throw usageError('-f: "" is not the name of a file', 'name the file that holds the text; "-" is stdin');
  if (files.filter((file) => file === '-').length > 1)
    throw usageError('-f - is given twice', 'stdin can be read only once');
  if (words.length > 0 || files.length > 0) return { words, files };
  return host.stdin.isTTY ? undefined : { words, files: ['-'] };
}

function givenTwice(
  words: readonly string[],
  files: readonly string[],
  { host, argv }: Pick<Context, 'host' | 'argv'>,
): TtsError {
  const voice = voiceBehindV(words, argv);
  const each = () => [...files, ...words].map((file) => `-f '${file}'`).join(' ');
  const hint =
    voice === undefined
      ? areFiles(words, host)
        ? `every file needs its own -f: ${each()}`
        : 'quote values with spaces, or leave one of the two out'
      : `-v is --verbose; -s ${voice} chooses a voice`;
  return usageError('the text is given twice, by words and with -f', hint);
}
