import manifest from '../../package.json' with { type: 'json' };
import { ExitCode } from '../error.ts';
import { type Rule, rules } from '../settings/rules.ts';
import { besideSpeaking, type Context, FILE, HELP, VERSION } from './context.ts';
import { printLine } from './terminal/print.ts';

const WIDTH = 80;

/** The long form if `speak` was named. */
export async function help({ host, named }: Pick<Context, 'host' | 'named'>): Promise<ExitCode> {
  printLine(host.stdout, named ? fullHelp() : shortHelp());
  return ExitCode.ok;
}

export async function version({ host }: Pick<Context, 'host'>): Promise<ExitCode> {
  printLine(host.stdout, manifest.version);
  return ExitCode.ok;
}

/** Fits on a screen of 24 lines. */
export function shortHelp(): string {
  const all = Object.values<Rule<unknown>>(rules);
  return [
    'Speaks any text: words, files, or what comes through a pipe.',
    '  tts "hello" -o hello.wav               to a file, with the built-in voice',
    '  cat book.txt | tts --stream | aplay    heard while it is made',
    '  tts -f news.txt -s 181 --base-url https://tts.example.com/api > news.wav',
    '',
    'tts [options] [text...]        speak; tts speak ... if the text is a command',
    ...wrap('Commands:', besideSpeaking, ' '),
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
