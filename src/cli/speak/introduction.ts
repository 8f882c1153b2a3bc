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
      const better = isEspeak ? '' : betterVoice(host);
      const note = `no base URL is set, so ${who} speaks; --base-url names a service${better}`;
      if (isNewToday(note, host)) notices.note(note);
    }
    if (!isIntroduced && isEspeak && isNumbered)
      notices.note(`on another machine ${shape.speaker} may be another voice; -s "${label}" is the same one`);
    isIntroduced = true;
    onEvent(event);
  };
}

/** The line that brings a natural voice, where there is none. */
function betterVoice(host: Host): string {
  const isThere = installedVoices(dataFolder(host), host.uid).length > 0;
  return isThere ? '' : '; a natural voice: tts voices install cori';
}
