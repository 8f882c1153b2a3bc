import { ExitCode, TtsError, usageError } from '../../error.ts';
import type { LoadedSettings } from '../../settings/load.ts';
import { askedBy, kindOf, settingsFor } from '../../settings/speaker.ts';
import { assertFormatKnown } from '../../sink/open.ts';
import { deliver } from '../../speech/deliver.ts';
import { assertInputsKept } from '../../speech/inputs-kept.ts';
import { planRun } from '../../speech/job.ts';
import type { Sparing } from '../../speech/look-ahead.ts';
import { openOutputs, planOutput } from '../../speech/outputs.ts';
import { RunTotals } from '../../speech/totals.ts';
import type { Limit, Segment } from '../../text/segment.ts';
import { countCodePoints } from '../../text/unicode.ts';
import type { Endpoint } from '../../voices/service-choice.ts';
import type { ListedVoice, Voice } from '../../voices/voice.ts';
import type { RunVoices } from '../../voices/voices.ts';
import type { Context } from '../context.ts';
import { eventsTo, report } from '../speak/report.ts';
import { askYes } from '../terminal/ask.ts';

export interface ListedSpeaker extends ListedVoice {
  readonly instructions?: string | undefined;
  readonly from: 'config' | 'service';
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

  const labelOf = ({ index }: Segment) => speaking[index]?.label ?? '';
  const leftOut = new LeftOut(labelOf);
  const delivery = await deliver({
    segments: () => eachWith(text, speaking.length, { maxChars: settings.maxChars.value }),
    voiceOf: ({ index }) => (speaking[index] as Speaking).voice,
    missing: (segment) => `asked for ${labelOf(segment)}`,
    sparing: speaking.length > 1 ? leftOut : undefined,
    window: settings.concurrency.value,
    mix: plan.mix,
    sink: outputs.sink,
    signal,
    listeners: [{ onPart: ({ segment }) => notices.note(labelOf(segment)) }, totals],
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

class LeftOut implements Sparing {
  readonly #labelOf: (segment: Segment) => string;
  readonly #absent: Absent[] = [];

  constructor(labelOf: (segment: Segment) => string) {
    this.#labelOf = labelOf;
  }

  get count(): number {
    return this.#absent.length;
  }

  get first(): TtsError | undefined {
    return this.#absent[0]?.error;
  }

  /** Other errors would hit all speakers. */
  allows(error: unknown): error is TtsError {
    return error instanceof TtsError && error.concernsThisTextOnly;
  }

  spare(error: TtsError, segment: Segment): void {
    this.#absent.push({ label: this.#labelOf(segment), error });
  }

  warn(say: (text: string) => void): void {
    for (const { label, error } of this.#absent) say(`${label} is left out: ${error.message}`);
  }

  asError(all: number): TtsError {
    const labels = this.#absent.map(({ label }) => label);
    return new TtsError(`${this.count} of ${all} speakers could not be heard: ${labels.join(', ')}`, {
      exitCode: ExitCode.partial,
      hint: `the audio has all the others; ${labels[0]} failed with: ${this.first?.message}`,
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
  return [...once].map(([no, { name, kind = kindOf(no, speakers), instructions }]) => {
    const own = settingsFor({ no, name, kind, instructions }, settings);
    const voice = voices.as(voices.shapeOf(no, askedBy(own)));
    return { voice, label: `speaker ${no}${name ? ` (${name})` : ''}` };
  });
}

async function* eachWith(text: string, count: number, voice: Limit): AsyncGenerator<Segment> {
  for (let index = 0; index < count; index += 1)
    yield {
      kind: 'segment',
      index,
      text,
      written: text,
      place: { source: '' },
      voice,
      pause: 'paragraph',
      chapter: undefined,
    };
}
