import { ExitCode, usageError } from '../../error.ts';
import { BUDGET_BYTES } from '../../pipeline/budget.ts';
import { deliver } from '../../pipeline/deliver.ts';
import { countCodePoints } from '../../text/code-points.ts';
import type { Segment } from '../../text/segment.ts';
import { askYes } from '../ask-yes.ts';
import { assertInputsKept } from '../assert-inputs-kept.ts';
import type { Context } from '../commands.ts';
import { type Connection, type ServiceEvent, voiceOf } from '../connect.ts';
import { describe } from '../describe.ts';
import { openOutput, warnOfEnding } from '../output.ts';
import { report } from '../report.ts';
import type { Settled } from '../settle.ts';
import { Tally } from '../tally.ts';
import type { Task } from '../task.ts';
import { whileConnected } from '../while-connected.ts';
import { LeftOut } from './left-out.ts';
import { eachWith, type Lines, type Voice, voicesOf } from './sample-voices.ts';

/** More requests than this are made only when somebody agrees. */
const MOST_UNASKED = 20;

interface Sample extends Lines, Pick<Task, 'service' | 'espeak'> {
  /** The config files that had a say. */
  readonly files: Settled['files'];
  /** Whether a service may be asked any number of times without a question. */
  readonly mayAsk: boolean;
}

/** One text by each speaker in turn, as one sound. */
export async function speakSample(sample: Sample, context: Context): Promise<number> {
  assertInputsKept({ files: [] }, sample, context.host);
  const voices = voicesOf(sample);
  if (voices.length > MOST_UNASKED) await assertAgreed(sample, voices.length, context);
  const tally = new Tally();
  const tell = (event: ServiceEvent) => {
    tally.event(event);
    context.notices.detail(() => describe(event));
  };
  return whileConnected(sample, context, {
    tell,
    use: (connection) => speakInTurn(voices, { ...sample, connection, tally }, context),
  });
}

/** @throws TtsError (usage) where nobody agrees to so many requests */
async function assertAgreed(
  { service, mayAsk, text }: Sample,
  requests: number,
  context: Context,
): Promise<void> {
  if (!service || mayAsk) return;
  const cost = `${requests} requests to ${service.url.host}, of ${countCodePoints(text)} characters each`;
  if (await askYes(`Make ${cost}?`, context)) return;
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
  const labelOf = ({ index }: Segment) => voices[index]?.label ?? '';
  const leftOut = new LeftOut(labelOf);
  const delivery = await deliver({
    segments: () => eachWith(text, voices.length),
    synthesize(segment, signal) {
      const { no, settings } = voices[segment.index] as Voice;
      return connection.speakAs(voiceOf(settings, no))(segment, signal);
    },
    missing: (segment) => `asked for ${labelOf(segment)}`,
    sparing: voices.length > 1 ? leftOut : undefined,
    window: settings.concurrency.value,
    budgetBytes: BUDGET_BYTES,
    paragraphPause: settings.paragraphPause.value,
    sink,
    signal,
    watch(part) {
      notices.note(labelOf(part.segment));
      return tally.part(part);
    },
  }).catch((error) => {
    throw leftOut.count === voices.length ? leftOut.first : error;
  });
  if (delivery?.failure) throw delivery.failure;
  await report({ settings, tally }, delivery, { host, notices });
  if (leftOut.count > 0 && !delivery?.readerLeft) {
    leftOut.warn((text) => notices.warn(text));
    throw leftOut.asError(voices.length);
  }
  if (settings.json.value)
    await (await import('../summary.ts')).tellSummary({ settings, tally, delivery }, { host, notices });
  return ExitCode.ok;
}
