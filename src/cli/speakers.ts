import { type Command, Option } from 'commander';
import { FLITE_SPEAKERS } from '../engines/flite.ts';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { printable, visible } from '../kit/words.ts';
import { type LoadedSettings, loadSettings, type Settings } from '../options/load.ts';
import type { Name } from '../options/rows.ts';
import { assertFormatKnown } from '../out/open.ts';
import { plain } from '../read/plain.ts';
import { wordsSource } from '../read/source.ts';
import type { Skipping } from '../run/ahead.ts';
import { assertInputsKept, castOf, planRun } from '../run/job.ts';
import { openOutputs, planOutput } from '../run/outputs.ts';
import { deliver } from '../run/run.ts';
import { RunText } from '../run/text.ts';
import { RunTotals } from '../run/totals.ts';
import type { Limit, Rest, Segment } from '../text/segment.ts';
import { countCodePoints } from '../text/unicode.ts';
import { type Cast, roleIn } from '../voices/cast.ts';
import { askedBy, kindOf, openVoices, type RunVoices, settingsFor } from '../voices/catalogue.ts';
import { manifestsOf } from '../voices/installed.ts';
import { chooseService, type Endpoint } from '../voices/service-choice.ts';
import type { ListedVoice, Voice, VoiceEvent, Voices } from '../voices/voice.ts';
import { OF_REQUESTS, OF_SOUND, readSubcommand, subcommand } from './command-line.ts';
import type { Context } from './context.ts';
import { askYes } from './print.ts';
import { describe, eventsTo, report, warnOfPause } from './speak-report.ts';
import { columnsOf, table } from './style.ts';

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
  if (plan.json) await (await import('./speak-report.ts')).printSummary(plan, totals, delivery, context);
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

const ACCEPTED: readonly Name[] = [
  'output',
  'clobber',
  'play',
  'player',
  'concurrency',
  'marks',
  ...OF_SOUND,
  ...OF_REQUESTS,
];

export async function run(context: Context): Promise<number> {
  const line = readSubcommand(describeCommand(), context);
  if (!line) return ExitCode.ok;
  const { sample, yes = false, names = false, ...flags } = line.flags;
  const { settings, files } = await loadSettings({ flags }, context);
  const configured = configuredSpeakers(settings);
  if (names) {
    const installed = manifestsOf(context).flatMap((voice) => [voice, ...voice.speakers]);
    return showNames(
      [...configured, ...(settings.baseUrl ? [] : [...FLITE_SPEAKERS, ...installed])],
      context,
    );
  }
  const service = await chooseService(settings, { ...context, files });
  await using voices = await openVoices({ settings, service: async () => service }, context);
  // Without a service, only an engine can fail that was chosen; nothing is shown then.
  const listed = await listedSpeakers(voices, service, context).catch((error: unknown) => {
    if (!service) throw error;
    return { error };
  });
  const rows = [...configured, ...('error' in listed ? [] : listed)];
  if (typeof sample === 'string' && !('error' in listed)) {
    const mayAsk = yes === true;
    return await speakSample(
      { text: sample, speakers: rows, voices, service, settings, files, mayAsk },
      context,
    );
  }
  if (rows.length > 0 || !('error' in listed)) show(rows, context);
  if ('error' in listed) throw listed.error;
  return ExitCode.ok;
}

function showNames(speakers: readonly Pick<ListedSpeaker, 'name'>[], { notices }: Context): number {
  const names = [...new Set(speakers.map(({ name = '' }) => name))];
  if (names.length === 0 && !notices.json) return ExitCode.ok;
  notices.result(notices.json ? { names } : names.map(visible).join('\n'));
  return ExitCode.ok;
}

function show(speakers: readonly ListedSpeaker[], { host, notices }: Context): void {
  notices.result(notices.json ? { speakers } : speakerTable(speakers, columnsOf(host)));
}

export function describeCommand(): Command {
  return subcommand(
    'speakers',
    'List the speakers that a config file names and those that the service tells.',
    ACCEPTED,
    [
      new Option('--sample <text>', 'speak this with each of them in turn'),
      new Option('--yes', 'with --sample: do not ask first, however many speakers there are'),
      new Option('--names', 'names only, one a line; neither a service nor espeak-ng is asked'),
    ],
  );
}

function configuredSpeakers({ speakers }: Settings): ListedSpeaker[] {
  return [...(speakers?.value ?? [])].flatMap(([name, { no, ...speaker }]) =>
    no === undefined ? [] : [{ name, no, ...speaker, from: 'config' }],
  );
}

async function listedSpeakers(
  voices: Voices,
  service: Endpoint | undefined,
  context: Context,
): Promise<ListedSpeaker[]> {
  const { notices } = context;
  const listed = await voices.list({ onEvent: (event) => tell(event, context) });
  if (!listed) notices.note(`${service?.url.host} does not list its speakers; any number may be valid`);
  if (service) return (listed ?? []).map((speaker) => ({ ...speaker, from: 'service' }));
  return (listed ?? []).map(ofThisMachine);
}

/** The kinds are words of a service. */
function ofThisMachine({ kind, engine, ...speaker }: ListedVoice): ListedSpeaker {
  const isBuiltIn = FLITE_SPEAKERS.some(({ no }) => no === speaker.no);
  const from = engine ?? (isBuiltIn ? 'built-in' : 'espeak-ng');
  return { ...speaker, from, ...(isBuiltIn && kind === 'Mermish' && { takesInstructions: true }) };
}

function tell(event: VoiceEvent, { notices }: Context): void {
  notices.detail(() => describe(event));
  warnOfPause(event, notices);
}

function speakerTable(rows: readonly ListedSpeaker[], columns: number | undefined): string {
  if (rows.length === 0)
    return 'no speaker has a name; give "speakers" in a config file, as in { "anna": 181 }';
  const hasKinds = rows.some(({ kind }) => kind !== undefined);
  const lines = rows.map(({ no, name, kind, language, sampleRate, from, takesInstructions }) => {
    const where = takesInstructions ? `${from}, takes -i` : from;
    return [no, name, ...(hasKinds ? [kind] : []), language, sampleRate, where];
  });
  const head = ['NO', 'NAME', ...(hasKinds ? ['KIND'] : []), 'LANGUAGE', 'HZ', 'FROM'];
  const cells = lines.map((line) => line.map((cell) => printable(String(cell ?? '-'))));
  return table([head, ...cells], columns);
}
