import { dataFolder } from '../../files/folders.ts';
import type { Host } from '../../host.ts';
import { installedVoices } from '../../installed/manifest.ts';
import type { SpeechJob } from '../../speech/job.ts';
import type { VoiceEvent } from '../../voices/voice.ts';
import type { Context } from '../context.ts';
import { isNewToday } from './daily-note.ts';

/** Waits for the first event: a run that fails before prints only its error. */
export function introducing(
  { voice: { kind, label, shape }, isNumbered }: SpeechJob,
  { host, notices }: Pick<Context, 'host' | 'notices'>,
  onEvent: (event: VoiceEvent) => void,
): (event: VoiceEvent) => void {
  const isEspeak = kind === 'espeak';
  const who = isEspeak ? `${label} (${shape.speaker}), a voice of espeak-ng,` : 'the built-in English voice';
  let isIntroduced = false;
  return (event) => {
    if (!isIntroduced && !notices.json) {
      const note = `${who} speaks${isEspeak ? '' : betterVoice(host)}`;
      if (isNewToday(note, host)) notices.note(note);
    }
    if (!isIntroduced && isEspeak && isNumbered)
      notices.note(`on another machine ${shape.speaker} may be another voice; -s "${label}" is the same one`);
    isIntroduced = true;
    onEvent(event);
  };
}

/** How to get a natural voice: the command, or the voice that is there. */
function betterVoice(host: Host): string {
  const [there] = installedVoices(dataFolder(host), host.uid);
  return `; a natural one: ${there ? `-s ${there.name}` : 'tts voices install cori'}`;
}
