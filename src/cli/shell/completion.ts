import type { Command } from 'commander';
import { ExitCode, usageError } from '../../error.ts';
import { nearestName } from '../../nearest.ts';
import { howToSpeak, readSubcommand, subcommand } from '../command-line.ts';
import type { Context } from '../context.ts';
import { printLine } from '../terminal/print.ts';
import { bash } from './bash.ts';
import type { Entry } from './catalog.ts';
import { fish } from './fish.ts';
import { powershell } from './powershell.ts';
import { zsh } from './zsh.ts';

export async function run(context: Context): Promise<number> {
  const line = readSubcommand(describeCommand(), context, { most: 1 });
  if (!line) return ExitCode.ok;
  const { catalog } = await import('./catalog.ts');
  const shell = line.words[0] ?? '';
  const script = scripts.get(shell);
  if (!script) {
    const nearest = nearestName(shell, [...scripts.keys()]);
    throw usageError(
      shell ? `there is no completion for "${shell}"` : 'for which shell?',
      nearest
        ? `did you mean ${nearest}?`
        : `there are: ${[...scripts.keys()].join(', ')}; ${howToSpeak('tts completion')}`,
    );
  }
  printLine(context.host.stdout, script(await catalog(context)));
  return ExitCode.ok;
}

export function describeCommand(): Command {
  return subcommand(
    'completion',
    'Print a completion script for bash, zsh, fish or powershell (commands, options, files, speakers).',
    [],
  ).argument('[shell]');
}

export const scripts: ReadonlyMap<string, (entries: readonly Entry[]) => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
  ['powershell', powershell],
]);

export const words = [...scripts.keys()];
