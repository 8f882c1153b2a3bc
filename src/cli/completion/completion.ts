import type { Command } from 'commander';
import { ExitCode, usageError } from '../../error.ts';
import { nearestName } from '../../settings/nearest.ts';
import { howToSpeak } from '../command-line.ts';
import type { Context } from '../commands.ts';
import { readSubcommand, subcommand } from '../subcommand.ts';
import { tell } from '../tell.ts';

/** `tts completion <shell>`: a script that the shell reads to complete what is typed behind `tts`. */
export async function run(context: Context): Promise<number> {
  const line = readSubcommand(completionCommand(), context, { most: 1 });
  if (!line) return ExitCode.ok;
  const { catalog } = await import('../catalog.ts');
  const { scripts } = await import('./scripts.ts');
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
  tell(context.host.stdout, script(catalog()));
  return ExitCode.ok;
}

export function completionCommand(): Command {
  return subcommand(
    'completion',
    'Print a completion script for bash, zsh, fish or powershell (commands, options, files, speakers).',
    [],
  ).argument('[shell]');
}
