import { ExitCode, usageError } from '../error.ts';
import { BUDGET_BYTES } from '../pipeline/budget.ts';
import { deliver } from '../pipeline/deliver.ts';
import type { Settings } from '../settings/resolve.ts';
import { kindOf, settingsFor } from '../settings/speaker.ts';
import { countCodePoints } from '../text/code-points.ts';
import type { Segment } from '../text/segment.ts';
import { askYes } from './ask-yes.ts';
import type { Context } from './commands.ts';
import { type Connection, connect, type ServiceEvent, voiceOf } from './connect.ts';
import { describe } from './describe.ts';
import { openService } from './open-service.ts';
import { openOutput, warnOfEnding } from './output.ts';
import { report } from './report.ts';
import type { NamedService } from './service.ts';
import type { Row } from './speakers.ts';
import { Tally } from './tally.ts';
import { isKept } from './task.ts';
import { whileOpen } from './while-open.ts';

/** More requests than this are made only when somebody agrees. */
const MOST_UNASKED = 20;

interface Sample {
  readonly text: string;
  readonly speakers: readonly Row[];
  /** `undefined` for the built-in one. */
  readonly service: NamedService | undefined;
  readonly settings: Settings;
  /** Whether a service may be asked any number of times without a question. */
  readonly mayAsk: boolean;
}

/** One text by each speaker in turn, as one sound. */
export async function speakSample(sample: Sample, context: Context): Promise<number> {
  const { settings, service } = sample;
  const voices = voicesOf(sample);
  if (voices.length > MOST_UNASKED) await assertAgreed(sample, voices.length, context);
  if (service?.note) context.notices.note(service.note);
  const tally = new Tally();
  const tell = (event: ServiceEvent) => {
    tally.event(event);
    context.notices.detail(() => describe(event));
  };
  return whileOpen(await openService(service), async (target) => {
    const caching = isKept(sample)
      ? await (await import('./caching.ts')).openCaching(settings, context)
      : undefined;
    return whileOpen(await connect(target, settings, { tell, caching }), (connection) =>
      speakInTurn(voices, { ...sample, connection, tally }, context),
    );
  });
}

/** @throws TtsError (usage) where nobody agrees to so many requests */
async function assertAgreed(
  { service, mayAsk, text }: Sample,
  requests: number,
  { host, signal }: Context,
): Promise<void> {
  if (!service || mayAsk) return;
  const cost = `${requests} requests to ${service.url.host}, of ${countCodePoints(text)} characters each`;
  if (await askYes(`Make ${cost}?`, host, signal)) return;
  throw usageError(
    `not spoken: it would take ${cost}`,
    'with --yes they are made; tts -s NAME tries one speaker',
  );
}

interface Turns extends Sample {
  readonly connection: Connection;
  readonly tally: Tally;
}

async function speakInTurn(
  voices: readonly Voice[],
  { text, settings, connection, tally }: Turns,
  { host, notices, signal }: Context,
): Promise<number> {
  const sink = await openOutput(settings, host, signal);
  warnOfEnding(settings, notices);
  const delivery = await deliver({
    segments: () => eachWith(text, voices.length),
    synthesize(segment, signal) {
      const { no, settings } = voices[segment.index] as Voice;
      return connection.speakAs(voiceOf(settings, no))(segment, signal);
    },
    missing: ({ index }) => `asked for ${voices[index]?.label}`,
    window: settings.concurrency.value,
    budgetBytes: BUDGET_BYTES,
    paragraphPause: settings.paragraphPause.value,
    sink,
    signal,
    watch(part) {
      notices.note(voices[part.segment.index]?.label ?? '');
      return tally.part(part);
    },
  });
  if (delivery?.failure) throw delivery.failure;
  await report({ settings, tally, progress: undefined }, delivery, { host, notices });
  if (settings.json.value)
    await (await import('./summary.ts')).tellSummary({ settings, tally, delivery }, { host, notices });
  return ExitCode.ok;
}

interface Voice {
  readonly no: number;
  readonly settings: Settings;
  readonly label: string;
}

/**
 * Each speaker once, by the first name that it has. A rate of its own is left out: one sound has one.
 * @throws TtsError (usage) when there is none, the text does not fit into one request, or one cannot do what is asked for
 */
function voicesOf({ speakers, settings, text }: Sample): Voice[] {
  if (text.trim() === '') throw usageError('nothing to say', 'the text of --sample is blank');
  if (countCodePoints(text) > settings.maxChars.value)
    throw usageError(
      `the text of --sample is longer than ${settings.maxChars.value} characters, and is not cut`,
      'a sentence or two are enough; a long text is for tts -s NAME',
    );
  const seen = new Set<number>();
  const once = speakers.filter(({ no }) => seen.size < seen.add(no).size);
  if (once.length === 0)
    throw usageError('there is no speaker to hear', 'name some under "speakers" in a config file');
  return once.map(({ no, name, kind = kindOf(no, speakers), instructions }) => ({
    no,
    label: `speaker ${no}${name ? ` (${name})` : ''}`,
    settings: settingsFor({ no, name, kind, instructions }, settings),
  }));
}

async function* eachWith(text: string, count: number): AsyncGenerator<Segment> {
  for (let index = 0; index < count; index += 1) yield { text, line: 1, startsParagraph: true, index };
}
