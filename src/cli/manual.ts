import manifest from '../../package.json' with { type: 'json' };
import { ExitCode } from '../kit/error.ts';
import { PROJECT_PLACES } from '../options/config-places.ts';
import type { Option } from '../options/option.ts';
import { names, rowOf } from '../options/rows.ts';
import type { CommandLine, Context } from './commands.ts';
import { type CommandEntry, commandEntries, type Flag } from './completion.ts';
import { STATUSES, TOPICS } from './help-text.ts';
import { printLine } from './print.ts';

export async function run(_: CommandLine, { host }: Context): Promise<number> {
  printLine(host.stdout, manual(await commandEntries()));
  return ExitCode.ok;
}

const REVISED = '2026-11-25';

export function manual([speak, ...others]: readonly CommandEntry[]): string {
  return [
    `.TH TTS 1 ${REVISED} "tts ${manifest.version}" "User Commands"`,
    '.SH NAME',
    `tts \\- ${escaped('speak any text with a text-to-speech service, or with the voice it carries')}`,
    '.SH SYNOPSIS',
    '.B tts',
    operands(speak?.usage ?? ''),
    ...others.flatMap(({ name, usage }) => ['.br', `.B tts ${name}`, operands(usage)]),
    '.SH DESCRIPTION',
    'Speaks words, files, books, or what comes through a pipe: to a file in the format of its ending, to standard output, or to be heard.',
    'Without a base URL the built-in voice speaks; otherwise the text is sent to the service there.',
    'Options override environment variables; these override the config file of the project, which overrides your own.',
    '.SH OPTIONS',
    ...(speak?.flags ?? []).flatMap(item),
    '.SH COMMANDS',
    ...others.flatMap(({ name, help, flags }) => [
      `.SS tts ${name}`,
      escaped(help),
      ...flags.filter((flag) => !isShared(flag, speak)).flatMap(item),
    ]),
    '.SH TOPICS',
    'The same words come from tts help TOPIC.',
    // The exit statuses have a section of their own.
    ...Object.entries(TOPICS)
      .filter(([name]) => name !== 'exit')
      .flatMap(([name, lines]) => [`.SS ${name}`, '.nf', ...lines.map(escaped), '.fi']),
    '.SH SETTINGS',
    'Keys of config files, with the environment variables that go before them.',
    ...names.map(rowOf).flatMap(setting),
    '.SH FILES',
    "The project's file is the first of these, in the working folder or above:",
    `${escaped(PROJECT_PLACES.join(', '))}.`,
    'Your own is $XDG_CONFIG_HOME/tts/config.json, or .yaml, or that of your platform; tts config shows where.',
    '.SH EXIT STATUS',
    ...Object.entries(STATUSES).flatMap(([status, meaning]) => ['.TP', `.B ${status}`, escaped(meaning)]),
  ].join('\n');
}

function setting(row: Option): string[] {
  const { key, keyShown = key, env, envShown = env, help, fallback, otherwise = fallback } = row;
  const name = keyShown ?? envShown;
  if (name === undefined) return [];
  const parts = [
    help,
    name !== envShown && envShown && `environment: ${envShown}`,
    otherwise !== undefined && `otherwise: ${otherwise}`,
  ];
  return ['.TP', `.B ${escaped(name)}`, escaped(parts.filter(Boolean).join('; '))];
}

function operands(usage: string): string {
  return escaped(usage).replace(/(?<=\[)[^\]]+/g, '\\fI$&\\fR');
}

function isShared({ long, help }: Flag, speak: CommandEntry | undefined): boolean {
  return speak?.flags.some((flag) => flag.long === long && flag.help === help) ?? false;
}

function item({ short, long, value, help }: Flag): string[] {
  const spellings = [short, long]
    .filter((spelling) => spelling !== undefined)
    .map((name) => `\\fB${escaped(name)}\\fR`);
  return ['.TP', `${spellings.join(', ')}${value && ` \\fI${escaped(value)}\\fR`}`, escaped(help) || '\\&'];
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&');
}
