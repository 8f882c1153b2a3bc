import { Command, CommanderError, Option } from 'commander';
import { type TtsError, usageError } from '../kit/error.ts';
import { optionHint } from '../kit/hints.ts';
import type { Host } from '../kit/host.ts';
import { nearestName, printable } from '../kit/words.ts';
import { type CommandName, defaultOf } from '../options/option.ts';
import { isOfOtherCommands, optionsOf, rowOf } from '../options/rows.ts';
import { type CommandLine, commandOf, HELP, VERSION } from './commands.ts';

export interface RawArguments {
  readonly argv: readonly string[];
  readonly host: Pick<Host, 'isArgvUtf8'>;
}

interface ReadLine extends CommandLine {
  readonly asks: 'help' | 'version' | undefined;
}

/**
 * Reads the options of a command. Their values are checked later, with those of variables and config files.
 * @throws TtsError (usage)
 */
export function readCommandLine(name: string, typed: RawArguments): ReadLine {
  const command = describeCommand(name);
  const { help, version, ...flags } = parse(
    command,
    typed,
    commandOf(name).isSecretive ? secretive : usage,
  ).opts();
  const asks = help ? 'help' : version && 'version';
  if (!asks) assertKnown(command.args, name);
  return { flags, words: command.args, asks };
}

/** Describes a command and its options to commander. */
export function describeCommand(name: string): Command {
  const { help, options, argument } = commandOf(name);
  const command = new Command(name === 'speak' ? 'tts' : `tts ${name}`)
    .description(help)
    .usage(argument === undefined ? '[options]' : `[options] ${argument}`)
    .helpOption(false)
    .allowExcessArguments();
  if (options) addOptions(command, options);
  command.option(HELP.flags, HELP.help);
  return name === 'speak' ? command.option(VERSION.flags, VERSION.help) : command;
}

/** Each switch also gets its opposite, hidden from help, which takes back what a variable or a config file has set. */
function addOptions(command: Command, takes: CommandName): void {
  for (const name of optionsOf(takes)) {
    const row = rowOf(name);
    const { flags = row.flags ?? '', help, repeats } = row.forms?.[takes] ?? row;
    const unless = isOfOtherCommands(name) ? defaultOf(row) : undefined;
    const option = new Option(flags, unless === undefined ? help : `${help} (default: ${unless})`);
    if (row.preset !== undefined) option.preset(row.preset);
    if (repeats) option.argParser((next: string, before: string[] = []) => [...before, next]);
    // commander reports `x: true` for a `--no-x` alone.
    if (option.negate) command.addOption(new Option(`--${option.name().replace(/^no-/, '')}`).hideHelp());
    command.addOption(option);
    if (option.isBoolean()) command.addOption(new Option(`--no-${option.name()}`).hideHelp());
  }
}

type Complain = (error: CommanderError, command: Command) => TtsError;

function parse(command: Command, typed: RawArguments, complain: Complain): Command {
  try {
    command
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .showSuggestionAfterError(false)
      .parse(typed.argv, { from: 'user' });
    assertUtf8(command, typed);
    return command;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // commander's message quotes the value after "=", which may be a key.
    const name = /^error: unknown option '(--[^=]+)=/.exec(error.message)?.[1];
    if (name === undefined) throw complain(error, command);
    // Without its value, an unknown option throws here; a known one is a switch.
    parse(command, { ...typed, argv: [name] }, complain);
    throw usageError(`${name} takes no value`, `see ${command.name()} --help`);
  }
}

export function howToSpeak(command: string): string {
  return command === 'tts'
    ? 'to speak it, put -- in front of the text'
    : `to speak the words: ${command.replace('tts', 'tts speak')} ...`;
}

function usage({ message, code }: CommanderError, command: Command): TtsError {
  // Drop the rest of the word, which may be a key.
  const what = message.replace(/^error: /, '').replace(/^(unknown option '(?:-[^-]|--[^:]*)).*'$/su, "$1'");
  const name = command.name();
  const hint = optionHint(what);
  if (hint !== undefined) return usageError(what, hint);
  if (code !== 'commander.unknownOption') return usageError(what, `see ${name} --help`);
  const nearest = nearestOption(what, command);
  const meant = nearest === undefined ? `see ${name} --help;` : `did you mean ${nearest}?`;
  return usageError(what, `${meant} ${howToSpeak(name)}`);
}

function nearestOption(complaint: string, { options }: Command): string | undefined {
  const typed = /'(--[^']*)'/.exec(complaint)?.[1];
  return (
    typed &&
    nearestName(
      typed,
      options.map(({ long }) => long ?? ''),
    )
  );
}

/** Complains without quoting an unknown argument, which may be a key. */
function secretive(error: CommanderError, command: Command): TtsError {
  const isKnownKind = /'-.'/.test(error.message) || nearestOption(error.message, command) !== undefined;
  if (error.code !== 'commander.unknownOption' || isKnownKind) return usage(error, command);
  return misplaced(command.name(), 'does not know one of these options');
}

/** @param command its full name, such as `tts login` */
export function misplaced(command: string, what: string): TtsError {
  return usageError(
    `${command} ${what}`,
    `tts login asks for the key or reads it from stdin: tts login URL < key-file; ${howToSpeak(command)}`,
  );
}

/** @throws TtsError (usage) for a word that the command does not take */
function assertKnown(typed: readonly string[], name: string): void {
  const { argument, most = argument === undefined ? 0 : Number.POSITIVE_INFINITY, ...row } = commandOf(name);
  const [first] = typed;
  const isWrong = row.words !== undefined && first !== undefined && !row.words.includes(first);
  const unknown = isWrong ? first : typed[most];
  if (unknown === undefined) return;
  const command = `tts ${name}`;
  if (row.isSecretive) throw misplaced(command, 'takes one base URL and no other word');
  const taken = isWrong ? `it knows ${row.words?.join(', ')};` : `see ${command} --help;`;
  throw usageError(`${command} does not know "${unknown}"`, `${taken} ${howToSpeak(command)}`);
}

/**
 * Node replaces bytes that are not UTF-8 by U+FFFD, so that the program would speak other words.
 * @throws TtsError (usage) naming the argument
 */
function assertUtf8(command: Command, { argv, host }: RawArguments): void {
  if (!argv.some(isDamaged)) return;
  for (const option of command.options) {
    const value = [command.getOptionValue(option.attributeName())].flat().find(isDamaged);
    if (value === undefined) continue;
    // Show only the value of an option that names a file: any other may be a key.
    if (option.flags.includes('<file'))
      refuse(`${option.long}: the name "${printable(value)}"`, RENAMED, host);
    else refuse(`the value of ${option.long}`, IN_UTF8, host);
  }
  assertWordsUtf8(command.args, host, command.name() === 'tts' ? ELSEWHERE : IN_UTF8);
}

export function assertWordsUtf8(words: readonly string[], host: RawArguments['host'], hint = IN_UTF8): void {
  const word = words.find(isDamaged);
  if (word !== undefined) refuse(`the word "${printable(word)}"`, hint, host);
}

const IN_UTF8 = 'write it in UTF-8';
const ELSEWHERE = 'put the text into a file and name that with -f, or send it through a pipe';
const RENAMED = 'rename the file, or what is above it; a text to be read can also come through a pipe';

/** Throws unless the system says that the arguments are UTF-8: a U+FFFD may also have been typed. */
function refuse(what: string, hint: string, host: RawArguments['host']): void {
  const isUtf8 = host.isArgvUtf8();
  if (isUtf8) return;
  const how =
    isUtf8 === undefined ? 'has a U+FFFD in it: it is not UTF-8, or was damaged before' : 'is not UTF-8';
  throw usageError(`${what} ${how}`, hint);
}

function isDamaged(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\uFFFD');
}
