import type { Settings } from '../../settings/resolve.ts';
import { connect, openService, type ServiceEvent, voiceOf, whileOpen } from '../../speech/connection.ts';
import { type NamedService, speakerOf } from '../../speech/service-choice.ts';
import type { Context } from '../context.ts';
import { describe } from '../speak/report.ts';
import { askYes } from '../terminal/ask.ts';
import { examine, type Finding, skipped } from './finding.ts';

/** As little as can be spoken. */
const TEXT = 'Hi';
const COST = `${TEXT.length} characters`;

interface Trial {
  /** `undefined` for the built-in one, which costs nothing. */
  readonly service: NamedService | undefined;
  readonly settings: Settings;
  readonly mayAsk: boolean;
}

/** One tiny request, if somebody agrees to what it costs. */
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

async function speak({ service, settings: said }: Trial, context: Context): Promise<string> {
  const { notices, signal } = context;
  const { no, settings, espeak } = await speakerOf(said, service, context);
  const tell = (event: ServiceEvent) => notices.detail(() => describe(event));
  return whileOpen(await openService(service, espeak), async (target) =>
    whileOpen(await connect(target, settings, { tell }), async ({ speakAs }) => {
      const begun = performance.now();
      const speech = await speakAs(voiceOf(settings, no))({ text: TEXT, index: 0 }, signal);
      if (!speech) return 'accepted; the audio goes to the callback URL';
      let bytes = 0;
      for await (const piece of speech.pcm) bytes += piece.length;
      const { sampleRate } = speech.format;
      return `speaker ${no} spoke: ${bytes} bytes at ${sampleRate} Hz in ${Math.round(performance.now() - begun)} ms`;
    }),
  );
}
