import { pauseChannel } from './channel.ts';
import { channelCommand } from './command.ts';

export const { run, describeCommand } = channelCommand({
  name: 'pause',
  help: 'Pause what speaks on this terminal, or on --channel.',
  done: 'paused',
  act: pauseChannel,
});
