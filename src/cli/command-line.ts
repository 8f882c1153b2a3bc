import { Command, CommanderError, Option } from 'commander';
import { type TtsError, usageError } from '../kit/error.ts';
import { optionHint } from '../kit/hints.ts';
import type { Host } from '../kit/host.ts';
import { nearestName, printable } from '../kit/words.ts';
import type { Flags } from '../options/load.ts';
import { type CommandName, defaultOf } from '../options/option.ts';
import { isName, type Name, names, rowOf } from '../options/rows.ts';
import type { Context } from './commands.ts';
import { printLine } from './print.ts';

export const HELP = { flags: '-h, --help', help: 'this help' };
export const VERSION = { flags: '-V, --version', help: 'the version' };

/** What `tts help TOPIC` says, and the manual with it. The help of a command of the same name ends with it. */
export const TOPICS: Readonly<Record<string, readonly string[]>> = {
  voices: [
    'The built-in voices speak English and need nothing: -s 1 to 5, 11 to 15.',
    'espeak-ng, where it is installed, speaks some hundred languages: -s de.',
    'A natural voice comes with one command: tts voices lists what there is,',
    'tts voices install NAME fetches it, and -s NAME speaks with it.',
    'Servers, programs and models of your own: --engine. A service: --base-url.',
    'tts speakers lists all that can speak here.',
  ],
  books: [
    'tts -f novel.epub -o novel.m4b       one file with chapters (needs ffmpeg)',
    'tts -f novel.epub -o novel.mp3       one file, with nothing installed',
    "tts -f novel.epub --split chapters -o 'novel/{nn} {title}.mp3'",
    'tts -f novel.epub --dry-run          chapters, length, price, what is left out',
    'A stopped run goes on: what was spoken is kept, but for built-in voices.',
    '--chapters 3,5-7 picks, --all reads all, --footnotes read reads notes.',
  ],
  marks: [
    'With --marks, [voice:NAME] changes the voice and [pause:1.5s] is silent.',
    "--voices 'Alice=1,Bob=de,*=2' gives the names of a dialogue their voices.",
    "--pauses 'paragraph=0.5,chapter=2' sets all other silences, in seconds.",
  ],
  config: [
    'Options override environment variables (TTS_...), these override the config',
    'file of the project, and that overrides your own. tts config shows what counts',
    'here, where it comes from, and where your own file lies: JSON or YAML, with keys',
    'such as speaker: cori. tts login keeps the key of a service.',
    'A project may not name programs, keys or services that you do not trust.',
  ],
  exit: [
    '0 all of it was delivered, or the reader left    5 timeout',
    '1 a defect in tts itself                         6 no connection',
    '2 a bad option, text, config file or value       7 the service failed',
    '3 the key: none, refused or not allowed          8 cannot write or play',
    '4 rate limit or quota                            9 in part, or by another voice',
    '9: rows of a batch failed, --keep-going left text out, or --fallback spoke on.',
    'A signal ends a run with 128 and its number. An error says what to do.',
  ],
};

export function topicOf(name: string): string | undefined {
  return Object.hasOwn(TOPICS, name) ? TOPICS[name]?.join('\n') : undefined;
}

export interface CommandLine {
  readonly flags: Flags;
  readonly words: readonly string[];
  readonly files: readonly string[];
  readonly help: boolean;
  readonly version: boolean;
}

/**
 * Reads the options of a run. Their values are checked later, with those of other places.
 * @throws TtsError (usage)
 */
export function readCommandLine(typed: Typed): CommandLine {
  const command = speakCommand();
  const { file, help = false, version = false, ...flags } = parse(command, typed).opts();
  return { flags, words: command.args, files: file ?? [], help, version };
}

export function speakCommand(): Command {
  const command = new Command('tts').argument('[text...]').helpOption(false);
  return addOptions(command, 'speak').option(HELP.flags, HELP.help).option(VERSION.flags, VERSION.help);
}

/** The options that a command takes: first its own, and those that mean something else to it than to a run. */
export function optionsOf(command: CommandName): Name[] {
  const taken = names.filter((name) => {
    const { flags, commands } = rowOf(name);
    return flags !== undefined && commands.includes(command);
  });
  const isOwn = (name: Name) => rowOf(name).forms?.[command] !== undefined || isOfNoRun(name);
  return [...taken.filter(isOwn), ...taken.filter((name) => !isOwn(name))];
}

function isOfNoRun(name: Name): boolean {
  return !rowOf(name).commands.includes('speak');
}

function addOptions(command: Command, takes: CommandName): Command {
  for (const name of optionsOf(takes)) {
    const row = rowOf(name);
    const { flags = row.flags ?? '', help, repeats } = row.forms?.[takes] ?? row;
    const unless = isOfNoRun(name) ? defaultOf(row) : undefined;
    const option = new Option(flags, unless === undefined ? help : `${help} (default: ${unless})`);
    if (row.preset !== undefined) option.preset(row.preset);
    if (repeats) option.argParser((next: string, before: string[] = []) => [...before, next]);
    // commander reports `x: true` for a `--no-x` alone.
    if (option.negate) command.addOption(new Option(`--${option.name().replace(/^no-/, '')}`).hideHelp());
    command.addOption(option);
  }
  return command;
}

/** Help lists only the options that are typed: all of them would fill it. */
function addOpposites(command: Command, argv: readonly string[]): void {
  for (const word of new Set(argv.filter((each) => each.startsWith('--no-')))) {
    const isKnown = command.options.some(({ long }) => long === word);
    if (!isKnown && command.options.some((option) => oppositeOf(option) === word))
      command.addOption(new Option(word).hideHelp());
  }
}

function oppositeOf(option: Option): string | undefined {
  const isSwitch = option.isBoolean() && isName(option.attributeName());
  return isSwitch ? `--no-${option.name()}` : undefined;
}

type Complain = (error: CommanderError, command: Command) => TtsError;

function parse(command: Command, typed: Typed, complain: Complain = usage): Command {
  try {
    addOpposites(command, typed.argv);
    command
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .showSuggestionAfterError(false)
      .parse(typed.argv, { from: 'user' });
    assertUtf8(command, typed);
    return command;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // commander quotes the value after "=", which may be a key.
    const mistyped = /^error: unknown option '(--[^=]+)=/.exec(error.message)?.[1];
    if (mistyped === undefined) throw complain(error, command);
    parse(command, { ...typed, argv: [mistyped] }, complain);
    throw usageError(`${mistyped} takes no value`, `see ${command.name()} --help`);
  }
}

export function howToSpeak(command: string): string {
  return command === 'tts'
    ? 'to speak it, put -- in front of the text'
    : `to speak the words: ${command.replace('tts', 'tts speak')} ...`;
}

export function usage({ message, code }: CommanderError, command: Command): TtsError {
  // The rest of the word may be a key.
  const what = message.replace(/^error: /, '').replace(/^(unknown option '(?:-[^-]|--[^:]*)).*'$/su, "$1'");
  const name = command.name();
  const hint = optionHint(what);
  if (hint !== undefined) return usageError(what, hint);
  if (code !== 'commander.unknownOption')
    return usageError(what, nearestChoice(what) ?? `see ${name} --help`);
  const nearest = nearestOption(what, command);
  const meant = nearest === undefined ? `see ${name} --help;` : `did you mean ${nearest}?`;
  return usageError(what, `${meant} ${howToSpeak(name)}`);
}

function nearestChoice(complaint: string): string | undefined {
  const listed = /argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s.exec(complaint);
  const nearest = listed?.[1] && nearestName(listed[1], listed[2]?.split(', ') ?? []);
  return nearest ? `did you mean ${nearest}?` : undefined;
}

export function nearestOption(complaint: string, { options }: Command): string | undefined {
  const typed = /'(--[^']*)'/.exec(complaint)?.[1];
  return (
    typed &&
    nearestName(
      typed,
      options.flatMap((option) => [option.long ?? '', oppositeOf(option) ?? '']),
    )
  );
}

/** @param takes the command whose options it has; none without it */
export function subcommand(name: string, description: string, takes?: CommandName): Command {
  const command = new Command(`tts ${name}`)
    .description(description)
    .helpOption(false)
    .allowExcessArguments();
  if (takes) addOptions(command, takes);
  return command.option(HELP.flags, HELP.help);
}

interface Reading {
  readonly most?: number;
  readonly complain?: Parameters<typeof parse>[2];
}

/**
 * @returns `undefined` after `--help`
 * @throws TtsError (usage)
 */
export function readSubcommand(
  command: Command,
  context: Pick<Context, 'argv' | 'host'>,
  { most = 0, complain }: Reading = {},
): Pick<CommandLine, 'flags' | 'words'> | undefined {
  const { help = false, ...flags } = parse(command, context, complain).opts();
  if (help) {
    const topic = topicOf(command.name().replace(/^tts /, ''));
    const parts = [command.helpInformation().trimEnd(), ...(topic === undefined ? [] : [topic])];
    printLine(context.host.stdout, parts.join('\n\n'));
    return undefined;
  }
  const [excess] = command.args.slice(most);
  if (excess === undefined) return { flags, words: command.args };
  throw usageError(
    `${command.name()} does not know "${excess}"`,
    `see ${command.name()} --help; ${howToSpeak(command.name())}`,
  );
}

export interface Typed {
  readonly argv: readonly string[];
  readonly host: Pick<Host, 'isArgvUtf8'>;
}

/**
 * Node replaces bytes that are not UTF-8 by U+FFFD, so that the program would speak other words.
 * @throws TtsError (usage) naming the argument
 */
function assertUtf8(command: Command, { argv, host }: Typed): void {
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
