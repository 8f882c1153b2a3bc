import type { Command } from 'commander';
import { ExitCode } from '../error.ts';
import { loadSettings } from '../settings/load.ts';
import { stopChannel } from './channel.ts';
import { readSubcommand, subcommand } from './command-line.ts';
import type { Context } from './context.ts';

export async function run(context: Context): Promise<number> {
  const { host, notices } = context;
  const line = readSubcommand(describeCommand(), context);
  if (!line) return ExitCode.ok;
  const { settings } = await loadSettings(line, context);
  const stopped = stopChannel(settings.channel?.value, host);
  if (notices.json) notices.result({ stopped });
  else if (stopped === 0) notices.note('nothing speaks here');
  return ExitCode.ok;
}

export function describeCommand(): Command {
  return subcommand('stop', 'Stop what speaks with --interrupt, --queue or --channel.', [
    'channel',
    'config',
    'quiet',
    'json',
  ]);
}
