import { resumeChannel } from './channel.ts';
import { channelCommand } from './command.ts';

export const { run, describeCommand } = channelCommand({
  name: 'resume',
  help: 'Resume what tts pause has paused.',
  done: 'resumed',
  act: resumeChannel,
});
