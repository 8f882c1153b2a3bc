import { resumeChannel } from './channel.ts';
import { channelCommand } from './command.ts';

export const { run, describeCommand } = channelCommand({
  name: 'resume',
  help: 'Let go on what tts pause has stopped.',
  done: 'resumed',
  act: resumeChannel,
});
