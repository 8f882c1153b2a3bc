import { Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { nearestName } from '../kit/words.ts';
import { defaultOf, GROUPS, type Option } from '../options/option.ts';
import { rowOf } from '../options/rows.ts';
import { assertWordsUtf8, HELP, optionsOf, TOPICS, topicOf, VERSION } from './command-line.ts';
import { type CommandModule, type Context, commands, namedCommands } from './commands.ts';
import { printLine } from './print.ts';

const WIDTH = 80;

/**
 * Runs `tts help`, alone, with a command or with a topic.
 * @throws TtsError (usage) for words that are neither
 */
export async function run(context: Context): Promise<number> {
  const [name, ...more] = context.argv;
  if (name === undefined || name.startsWith('-')) return help({ ...context, named: false });
  const named = commands.has(name);
  if (named && more.length === 0) {
    const command = await loadCommand(name);
    return command.run({ ...context, argv: ['--help'], named });
  }
  const topic = more.length === 0 ? topicOf(name) : undefined;
  if (topic !== undefined) {
    printLine(context.host.stdout, topic);
    return ExitCode.ok;
  }
  assertWordsUtf8(context.argv, context.host);
  const unknown = named ? more[0] : name;
  const nearest = nearestName(unknown ?? '', [...commands.keys(), ...Object.keys(TOPICS)]);
  throw usageError(
    `tts help does not know "${unknown}"`,
    `${nearest ? `did you mean tts help ${nearest}?` : 'see tts help;'} to speak the words: tts speak help ...`,
  );
}

export function describeCommand(): Command {
  return new Command('help')
    .argument('[command|topic]')
    .helpOption(false)
    .description('Show the help of a command or a topic.');
}

/** @throws TtsError (defect) if a file of the program is missing or damaged */
export async function loadCommand(name: string): Promise<CommandModule> {
  try {
    const command = await commands.get(name)?.();
    if (command) return command;
  } catch (cause) {
    const [what] = String(cause instanceof Error ? cause.message : cause).split('\n');
    throw new TtsError(`the program cannot be loaded: ${what}`, {
      exitCode: ExitCode.defect,
      hint: 'install it again, or npm run build',
    });
  }
  throw new RangeError(`there is no command ${name}`);
}

/** Gives the long form if `speak` was named. */
export async function help({ host, named }: Pick<Context, 'host' | 'named'>): Promise<ExitCode> {
  printLine(host.stdout, named ? fullHelp() : shortHelp());
  return ExitCode.ok;
}

export async function version({ host }: Pick<Context, 'host'>): Promise<ExitCode> {
  printLine(host.stdout, manifest.version);
  return ExitCode.ok;
}

/** What `tts` alone shows on a terminal. Each line works as it stands. */
export const FIRST_STEPS = [
  'tts speaks any text. To begin with:',
  '  tts "Hello from this machine." -o hello.wav    a file, with the built-in voice',
  '  tts voices                                     natural voices to install',
  '  tts --help                                     all that it can do',
].join('\n');

/** The short help fits on a screen of 40 lines. */
export function shortHelp(): string {
  return [
    'Speaks any text: words, files, or what comes through a pipe.',
    '  tts "hello" -o hello.wav             to a file, with the built-in voice',
    '  cat book.txt | tts --play            heard while it is made',
    '  tts -f novel.epub -o novel.mp3       a book, with chapters',
    '',
    'tts [options] [text...]        speak; tts speak ... if the text is a command',
    ...wrap('Commands:', namedCommands(), ' '),
    ...GROUPS.flatMap(grouped),
    `tts speak --help explains them all; ${HELP.flags}; ${VERSION.flags}`,
    ...wrap('tts help TOPIC tells more:', Object.keys(TOPICS)),
  ].join('\n');
}

function grouped(title: string): string[] {
  const options = optionsOf('speak')
    .map(rowOf)
    .filter(({ group }) => group === title);
  return [
    `${title}:`,
    ...options.filter(({ hasLine }) => hasLine).map(({ flags, brief, help }) => row(flags, brief ?? help)),
    ...wrap(
      '  also:',
      options.filter(({ hasLine }) => !hasLine).map(({ flags }) => nameOf(flags)),
    ),
  ];
}

function nameOf(flags = ''): string {
  return flags.replace(/ <[^>]*>/g, '');
}

function fullHelp(): string {
  return [
    'tts speak [options] [text...]',
    '',
    ...optionsOf('speak')
      .map(rowOf)
      .flatMap((option) => [row(option.flags, option.help), ...elsewhere(option)]),
    ...[HELP, VERSION].map(({ flags, help }) => row(flags, help)),
  ].join('\n');
}

function row(flags = '', help = ''): string {
  return `  ${flags.padEnd(27)} ${help}`;
}

function elsewhere(option: Option): string[] {
  const { env, envShown = env, key, keyShown = key } = option;
  const unless = defaultOf(option);
  const parts = [envShown, keyShown && `config: ${keyShown}`, unless && `default: ${unless}`];
  const said = parts.filter(Boolean).join('; ');
  return said === '' ? [] : [row('', `  ${said}`)];
}

function wrap(label: string, entries: readonly (string | undefined)[], gap = '  '): string[] {
  const lines = [label];
  for (const entry of entries) {
    if (entry === undefined) continue;
    const longer = `${lines.at(-1)}${gap}${entry}`;
    if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(`    ${entry}`);
  }
  return lines;
}
