import { Command, CommanderError, Option } from 'commander';
import { type TtsError, usageError } from '../error.ts';
import { optionHint } from '../hints.ts';
import { nearestName } from '../nearest.ts';
import { joinedNames } from '../settings/named-file.ts';
import type { Flags } from '../settings/resolve.ts';
import { type Name, ruleOf, rules, settingNames } from '../settings/rules.ts';
import { assertUtf8, type Typed } from './assert-utf8.ts';
import { type Context, FILE, HELP, VERSION } from './context.ts';
import { printLine } from './terminal/print.ts';
import { topicOf } from './topics.ts';

export interface CommandLine {
  readonly flags: Flags;
  readonly words: readonly string[];
  readonly files: readonly string[];
  readonly help: boolean;
  readonly version: boolean;
}

/**
 * Reads the options of a command. `settings/` checks their values.
 * @throws TtsError (usage)
 */
export function readCommandLine(typed: Typed): CommandLine {
  const command = speakCommand();
  const { file, help = false, version = false, ...flags } = parse(command, typed).opts();
  return { flags, words: command.args, files: file ?? [], help, version };
}

export function speakCommand(): Command {
  const command = new Command('tts').argument('[text...]').helpOption(false);
  return addRules(command, settingNames)
    .addOption(
      new Option(FILE.flags, FILE.help).argParser((file: string, files: string[] = []) => [...files, file]),
    )
    .option(HELP.flags, HELP.help)
    .option(VERSION.flags, VERSION.help);
}

function addRules(command: Command, names: readonly Name[]): Command {
  for (const { flags, help, repeats } of names.map(ruleOf)) {
    if (flags === undefined) continue;
    const option = new Option(flags, help);
    if (repeats) option.argParser((next: string, before?: string) => joinedNames(before, next));
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
  const isSwitch = option.isBoolean() && Object.hasOwn(rules, option.attributeName());
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

export const OF_REQUESTS = settingNames.filter((name) => ruleOf(name).ofRequests);
export const OF_SOUND = settingNames.filter((name) => ruleOf(name).ofSound);

export function subcommand(
  name: string,
  description: string,
  settings: readonly Name[],
  own: readonly Option[] = [],
): Command {
  const command = new Command(`tts ${name}`)
    .description(description)
    .helpOption(false)
    .allowExcessArguments();
  for (const option of own) command.addOption(option);
  return addRules(command, settings).option(HELP.flags, HELP.help);
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
