import { ExitCode, TtsError, usageError } from '../../error.ts';
import { plain } from '../../reading/plain.ts';
import { wordsSource } from '../../reading/source.ts';
import type { LoadedSettings } from '../../settings/load.ts';
import { askedBy, kindOf, settingsFor } from '../../settings/speaker.ts';
import { assertFormatKnown } from '../../sink/open.ts';
import { type Cast, roleIn } from '../../speech/cast/cast.ts';
import { deliver } from '../../speech/deliver.ts';
import { assertInputsKept } from '../../speech/inputs-kept.ts';
import { castOf, planRun } from '../../speech/job.ts';
import type { Skipping } from '../../speech/look-ahead.ts';
import { openOutputs, planOutput } from '../../speech/outputs.ts';
import { RunText } from '../../speech/text.ts';
import { RunTotals } from '../../speech/totals.ts';
import type { Limit, Rest, Segment } from '../../text/segment.ts';
import { countCodePoints } from '../../text/unicode.ts';
import type { Endpoint } from '../../voices/service-choice.ts';
import type { ListedVoice, Voice } from '../../voices/voice.ts';
import type { RunVoices } from '../../voices/voices.ts';
import type { Context } from '../context.ts';
import { report } from '../speak/report.ts';
import { eventsTo } from '../speak/voice-events.ts';
import { askYes } from '../terminal/ask.ts';

export interface ListedSpeaker extends ListedVoice {
  readonly instructions?: string | undefined;
  readonly speed?: number | undefined;
  /** `config`, `service`, `built-in`, `espeak-ng`, or the name of an engine or of an installed voice. */
  readonly from: string;
  /** A voice of this program follows instructions. */
  readonly takesInstructions?: true;
}

/** More need the user's agreement. */
const MOST_UNASKED = 20;

interface Sample extends LoadedSettings {
  readonly voices: RunVoices;
  readonly service: Endpoint | undefined;
  readonly text: string;
  readonly speakers: readonly ListedSpeaker[];
  readonly mayAsk: boolean;
}

export async function speakSample(sample: Sample, context: Context): Promise<number> {
  const { host, notices, signal } = context;
  const { text, settings } = sample;
  const totals = new RunTotals();
  const output = planOutput(settings, context);
  assertInputsKept([], sample, output, host);
  if (output.name !== undefined) assertFormatKnown(output.name, output.encode, host.cwd);
  const speaking = voicesOf(sample);
  if (speaking.length > MOST_UNASKED) await assertAgreed(sample, speaking.length, context);
  const plan = planRun(settings, output);

  await using outputs = await openOutputs(plan, context);
  if (sample.service?.note) notices.note(sample.service.note);
  sample.voices.listen(eventsTo(totals, undefined, notices));
  for (const { voice } of speaking) await sample.voices.open(voice);

  const cast = await castOf({ ...settings, voices: undefined }, sample.voices);
  let last: string | undefined;
  const leftOut = new LeftOut();
  const delivery = await deliver({
    segments: (until) =>
      cast ? marked(sample, speaking, cast, until) : eachWith(text, speaking, settings.maxChars.value),
    voiceOf: ({ voice }) => (voice as Sampled).voice,
    missing: (segment) => `asked for ${labelOf(segment)}`,
    skipping: speaking.length > 1 ? leftOut : undefined,
    window: settings.concurrency.value,
    mix: plan.mix,
    sink: outputs.sink,
    signal,
    listeners: [
      {
        onPart({ segment }) {
          const label = labelOf(segment);
          if (label !== last) notices.note(label);
          last = label;
        },
      },
      totals,
    ],
  });
  if (delivery?.failure) throw delivery.failure;

  await report(plan, totals, delivery, context);
  if (leftOut.count > 0 && !delivery?.readerLeft) {
    leftOut.warn((text) => notices.warn(text));
    throw leftOut.asError(speaking.length);
  }
  if (plan.json) await (await import('../speak/summary.ts')).printSummary(plan, totals, delivery, context);
  return ExitCode.ok;
}

/** @throws TtsError (usage) */
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

interface Speaking {
  readonly voice: Voice;
  readonly label: string;
}

interface Absent {
  readonly label: string;
  readonly error: TtsError;
}

class LeftOut implements Skipping {
  readonly #absent: Absent[] = [];

  get count(): number {
    return this.#absent.length;
  }

  /** Other errors would hit all speakers. */
  allows(error: unknown): error is TtsError {
    return error instanceof TtsError && error.concernsThisTextOnly;
  }

  onSkipped(error: TtsError, segment: Segment): void {
    this.#absent.push({ label: labelOf(segment), error });
  }

  warn(say: (text: string) => void): void {
    for (const { label, error } of this.#absent) say(`${label} is left out: ${error.message}`);
  }

  asError(all: number): TtsError {
    const labels = this.#absent.map(({ label }) => label);
    const [first] = this.#absent;
    return new TtsError(`${this.count} of ${all} speakers could not be heard: ${labels.join(', ')}`, {
      exitCode: ExitCode.partial,
      hint: `the audio has all the others; ${first?.label} failed with: ${first?.error.message}`,
    });
  }
}

/**
 * Each number is heard once.
 * @throws TtsError (usage)
 */
function voicesOf({ speakers, voices, settings, text }: Sample): Speaking[] {
  if (text.trim() === '') throw usageError('nothing to say', 'the text of --sample is blank');
  if (countCodePoints(text) > settings.maxChars.value)
    throw usageError(
      `the text of --sample is longer than ${settings.maxChars.value} characters, and is not cut`,
      'a sentence or two are enough; a long text is for tts -s NAME',
    );
  const once = new Map<number, ListedSpeaker>();
  for (const speaker of speakers)
    if (speaker.no !== undefined && !once.has(speaker.no)) once.set(speaker.no, speaker);
  if (once.size === 0)
    throw usageError('there is no speaker to hear', 'name some under "speakers" in a config file');
  return [...once].map(([no, speaker]) => {
    const { name, kind = kindOf(no, speakers), instructions, speed } = speaker;
    const own = settingsFor({ no, name, kind, instructions, speed }, settings);
    const voice = voices.as(voices.shapeOf(no, askedBy(own)));
    return { voice, label: `speaker ${no}${name ? ` (${name})` : ''}` };
  });
}

/** Who speaks a segment, and in whose sample. */
interface Sampled extends Speaking, Limit {}

function labelOf({ voice }: Segment): string {
  return (voice as Sampled).label;
}

async function* eachWith(
  text: string,
  speaking: readonly Speaking[],
  maxChars: number,
): AsyncGenerator<Segment> {
  for (const [index, each] of speaking.entries())
    yield {
      kind: 'segment',
      index,
      text,
      written: text,
      place: { source: '' },
      voice: { maxChars, ...each },
      pause: 'paragraph',
      chapter: undefined,
    };
}

/** Marks cut the text. The usual voice is that of the sample. */
async function* marked(
  { text, settings }: Sample,
  speaking: readonly Speaking[],
  { plan }: Cast,
  signal: AbortSignal,
): AsyncGenerator<Segment | Rest> {
  const maxChars = settings.maxChars.value;
  const sources = () => [{ source: wordsSource(text), reader: plain }];
  const cutting = { voice: { maxChars }, cast: plan, pace: 'by output', cutsParagraphs: false } as const;
  const run = await RunText.open({ sources, stages: [], ...cutting }, signal);
  let index = 0;
  for (const { voice, label } of speaking)
    for await (const item of run.segments(false, signal)) {
      if (item.kind === 'rest') yield item;
      else {
        const sampled: Sampled = { maxChars, voice: roleIn(item)?.voice ?? voice, label };
        yield { ...item, index, voice: sampled };
        index += 1;
      }
    }
}
