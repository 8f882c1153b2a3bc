import { stopChannel } from './channel.ts';
import { channelCommand } from './command.ts';

export const { run, describeCommand } = channelCommand({
  name: 'stop',
  help: 'Stop what speaks on this terminal, or on --channel.',
  done: 'stopped',
  act: stopChannel,
});
