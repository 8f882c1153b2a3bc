import type { Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { ExitCode, TtsError, usageError } from '../error.ts';
import { type Rule, rules } from '../settings/rules.ts';
import {
  type CommandModule,
  type Commands,
  type Context,
  FILE,
  HELP,
  namedCommands,
  VERSION,
} from './context.ts';
import { printLine } from './terminal/print.ts';

const WIDTH = 80;

/**
 * Runs `tts help`, alone or with a command.
 * @throws TtsError (usage) for words that are not a command
 */
export async function run(context: Context): Promise<number> {
  const [name, ...more] = context.argv;
  if (name === undefined || name.startsWith('-')) return help({ ...context, named: false });
  const named = context.commands.has(name);
  if (named && more.length === 0) {
    const command = await loadCommand(name, context.commands);
    return command.run({ ...context, argv: ['--help'], named });
  }
  const { assertWordsUtf8 } = await import('./assert-utf8.ts');
  assertWordsUtf8(context.argv, context.host);
  throw usageError(
    `tts help does not know "${named ? more[0] : name}"`,
    'see tts help; to speak the words: tts speak help ...',
  );
}

/** `--help` alone does not need commander, and starts faster without it. */
export async function describeCommand(): Promise<Command> {
  const { Command } = await import('commander');
  return new Command('help')
    .argument('[command]')
    .helpOption(false)
    .description('Show the help of a command.');
}

/** @throws TtsError (defect) if a file of the program is missing or damaged */
export async function loadCommand(name: string, commands: Commands): Promise<CommandModule> {
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
export async function help({
  host,
  named,
  commands,
}: Pick<Context, 'host' | 'named' | 'commands'>): Promise<ExitCode> {
  printLine(host.stdout, named ? fullHelp() : shortHelp(commands));
  return ExitCode.ok;
}

export async function version({ host }: Pick<Context, 'host'>): Promise<ExitCode> {
  printLine(host.stdout, manifest.version);
  return ExitCode.ok;
}

/** The short help fits on a screen of 24 lines. */
export function shortHelp(commands: Commands): string {
  const all = Object.values<Rule<unknown>>(rules);
  return [
    'Speaks any text: words, files, or what comes through a pipe.',
    '  tts "hello" -o hello.wav               to a file, with the built-in voice',
    '  cat book.txt | tts --stream | aplay    heard while it is made',
    '  tts -f news.txt -s 181 --base-url https://tts.example.com/api > news.wav',
    '',
    'tts [options] [text...]        speak; tts speak ... if the text is a command',
    ...wrap('Commands:', namedCommands(commands), ' '),
    '',
    ...[...all.filter(({ isCommon }) => isCommon), FILE].map(({ flags = '', help }) => row(flags, help)),
    ...wrap(
      'More:',
      [...all.filter(({ isCommon }) => !isCommon), HELP, VERSION].map(({ flags }) =>
        flags?.replace(/ <[^>]*>/g, ''),
      ),
    ),
    'tts speak --help explains them all. Exit status: 0 when all of it was delivered.',
  ].join('\n');
}

function fullHelp(): string {
  const explained = Object.values<Rule<unknown>>(rules).filter(({ flags }) => flags !== undefined);
  return [
    'tts speak [options] [text...]',
    '',
    ...explained.flatMap((rule) => [row(rule.flags ?? '', rule.help), ...elsewhere(rule)]),
    ...[FILE, HELP, VERSION].map(({ flags, help }) => row(flags, help)),
  ].join('\n');
}

function row(flags: string, help: string): string {
  return `  ${flags.padEnd(27)} ${help}`;
}

function elsewhere({ env, envShown, key, keyShown = key, fallback, otherwise }: Rule<unknown>): string[] {
  const otherwiseShown = otherwise ?? (typeof fallback === 'boolean' ? undefined : fallback);
  const parts = [
    envShown ?? env,
    keyShown && `config: ${keyShown}`,
    otherwiseShown !== undefined && `default: ${otherwiseShown}`,
  ];
  const said = parts.filter(Boolean).join('; ');
  return said === '' ? [] : [row('', `  ${said}`)];
}

function wrap(label: string, entries: readonly (string | undefined)[], gap = '  '): string[] {
  const lines = [label];
  for (const entry of entries) {
    if (entry === undefined) continue;
    const longer = `${lines.at(-1)}${gap}${entry}`;
    if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(`  ${entry}`);
  }
  return lines;
}
