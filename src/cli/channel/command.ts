import type { Command } from 'commander';
import { ExitCode } from '../../error.ts';
import { loadSettings } from '../../settings/load.ts';
import { readSubcommand, subcommand } from '../command-line.ts';
import type { CommandModule, Context } from '../context.ts';
import type { stopChannel } from './channel.ts';

interface ChannelCommand {
  readonly name: string;
  readonly help: string;
  /** The key of the number of runs in `--json`. */
  readonly done: string;
  readonly act: typeof stopChannel;
}

/** A command for the runs of a channel. */
export function channelCommand({ name, help, done, act }: ChannelCommand): CommandModule {
  const describeCommand = (): Command => subcommand(name, help, ['channel', 'config', 'quiet', 'json']);
  return {
    describeCommand,
    async run(context: Context): Promise<number> {
      const { host, notices } = context;
      const line = readSubcommand(describeCommand(), context);
      if (!line) return ExitCode.ok;
      const { settings } = await loadSettings(line, context);
      const count = act(settings.channel?.value, host);
      if (notices.json) notices.result({ [done]: count });
      else if (count === 0)
        notices.note(done === 'resumed' ? 'nothing is paused here' : 'nothing speaks here');
      return ExitCode.ok;
    },
  };
}
