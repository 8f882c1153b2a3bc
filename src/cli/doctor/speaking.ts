import type { Settings } from '../../settings/resolve.ts';
import type { Endpoint } from '../../voices/service-choice.ts';
import { openVoices } from '../../voices/voices.ts';
import type { Context } from '../context.ts';
import { describe } from '../speak/voice-events.ts';
import { askYes } from '../terminal/ask.ts';
import { examine, type Finding, skipped } from './finding.ts';

const TEXT = 'Hi';
const COST = `${TEXT.length} characters`;

interface Trial {
  readonly service: Endpoint | undefined;
  readonly settings: Settings;
  readonly mayAsk: boolean;
}

export async function trySpeaking(trial: Trial, context: Context): Promise<Finding> {
  const { service, mayAsk } = trial;
  if (service && !mayAsk) {
    const question = `Make one request to ${service.url.host}? It costs ${COST}.`;
    const says = await askYes(question, context);
    if (says === undefined)
      return skipped('request', `not made: it would cost ${COST}`, 'tts doctor --yes makes it');
    if (!says) return skipped('request', 'not made');
  }
  return examine('request', () => speak(trial, context));
}

async function speak({ service, settings }: Trial, context: Context): Promise<string> {
  const { notices, signal } = context;
  // Sound from the cache would prove nothing.
  const uncached = { ...settings, cache: { ...settings.cache, value: false } };
  await using voices = await openVoices({ settings: uncached, service: async () => service }, context);
  voices.listen((event) => notices.detail(() => describe(event)));
  const voice = await voices.of();
  await voices.open(voice);
  const start = performance.now();
  const speech = await voice.speak({ text: TEXT, index: 0 }, signal);
  if (!speech) return 'accepted; the audio goes to the callback URL';
  let bytes = 0;
  for await (const piece of speech.pcm) bytes += piece.length;
  const { sampleRate } = speech.format;
  const { speaker } = voice.shape;
  return `speaker ${speaker} spoke: ${bytes} bytes at ${sampleRate} Hz in ${Math.round(performance.now() - start)} ms`;
}
