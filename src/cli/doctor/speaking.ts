import type { Settings } from '../../settings/resolve.ts';
import { openClient, openService, type ServiceEvent } from '../../voices/client.ts';
import { fieldsOf, limitsOf } from '../../speech/job.ts';
import type { Endpoint } from '../../voices/service-choice.ts';
import { SourceShelf } from '../../speech/speakers/source-shelf.ts';
import { speakerOf } from '../../speech/speakers/speaker-choice.ts';
import type { Context } from '../context.ts';
import { describe } from '../speak/report.ts';
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

async function speak({ service, settings: general }: Trial, context: Context): Promise<string> {
  const { notices, signal } = context;
  const openShelf = service ? undefined : async () => new SourceShelf(general, context);
  const { no, settings, espeak, sources } = await speakerOf(general, openShelf, context);
  const onEvent = (event: ServiceEvent) => notices.detail(() => describe(event));
  await using target = await openService({ service, espeak, sources }, context);
  const plan = { limits: limitsOf(settings), cacheBytes: undefined };
  await using client = await openClient(plan, target, { ...context, onEvent });
  const start = performance.now();
  const speech = await client.speakWith(fieldsOf(settings, no))({ text: TEXT, index: 0 }, signal);
  if (!speech) return 'accepted; the audio goes to the callback URL';
  let bytes = 0;
  for await (const piece of speech.pcm) bytes += piece.length;
  const { sampleRate } = speech.format;
  return `speaker ${no} spoke: ${bytes} bytes at ${sampleRate} Hz in ${Math.round(performance.now() - start)} ms`;
}
