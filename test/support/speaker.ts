import type { Speaker, Utterance, VoiceEvent, VoiceSource } from '../../src/sound/voice.ts';

/** A request that sets nothing. */
export const NO_FIELDS = { sampleRate: undefined, instructions: undefined };

interface About extends Partial<Pick<VoiceSource, 'kind' | 'name' | 'maxChars'>> {
  readonly sampleRate?: number | undefined;
}

/** A speaker whose source only has this way to speak. */
export function speakerThat(
  speak: VoiceSource['speak'],
  { kind = 'service', name = 'a source', maxChars = 1000, sampleRate }: About = {},
): Speaker {
  const nothing = async () => {};
  const about = { kind, name, maxChars, atOnce: 4 };
  const source: VoiceSource = { ...about, open: nothing, speak, has: () => false, close: nothing };
  const unknown = { name: undefined, language: undefined, kind: undefined, supports: undefined };
  const voice = { ...unknown, source, no: 1, sampleRate, identity: 'a source' };
  return { voice, fields: NO_FIELDS, speed: undefined, maxChars, isCached: () => false };
}

/** @param events receives the reports of the voice */
export function utteranceOf(
  { voice, fields }: Pick<Speaker, 'voice' | 'fields'>,
  text: string,
  index = 0,
  events: VoiceEvent[] = [],
): Utterance {
  return { text, index, voice, fields, report: (event) => void events.push(event) };
}

/** A speaker that makes no sound. */
export const silent = speakerThat(async () => undefined);
