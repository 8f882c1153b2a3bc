import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDescriptor } from '../kit/descriptor.ts';
import { usageError } from '../kit/error.ts';
import { linkTarget, pathOf } from '../kit/folders.ts';
import type { Host, RunContext } from '../kit/host.ts';
import { keyFilesIn } from '../options/keys.ts';
import {
  type Flags,
  type LoadedSettings,
  loadSettings,
  namedFile,
  outranks,
  type Settings,
  singleNames,
  withAssistant,
} from '../options/load.ts';
import { assertFormatKnown, isStdout } from '../out/open.ts';
import type { Echo } from '../read/echo.ts';
import type { Speaker } from '../sound/voice.ts';
import type { Lexicon } from '../text/lexicon.ts';
import type { Role } from '../text/segment.ts';
import { asRole, Cast, textCast } from '../voices/cast.ts';
import type { Fallback, Patience } from '../voices/fallback.ts';
import { chooseService, withForgottenBase, withListedNumber } from '../voices/service-choice.ts';
import { openVoices, type Voices } from '../voices/voices.ts';
import { type Mix, type Pauses, USUAL_PAUSES } from './mix.ts';
import { makesFile, type OutputPlan, planOutput, planSplit, type SplitPlan } from './outputs.ts';
import { answerFilterOf, type Input, sourcesOf, stagesOf } from './readers.ts';
import type { SubtitlesPlan } from './subtitles.ts';
import type { TagsPlan } from './tags.ts';
import type { TextPlan } from './text.ts';

export function mixOf(settings: Settings): Mix {
  const { fit, length, loudness } = settings;
  return {
    pauses: pausesOf(settings),
    loudness: loudness?.value,
    fit: fit && { most: fit.value, length: length?.value },
  };
}

/** If both set the silence between paragraphs, the one from the higher-ranking place wins, and `pauses` on a tie. */
function pausesOf({ pauses, paragraphPause }: Settings): Pauses {
  const said: Partial<Pauses> = Object.fromEntries(pauses?.value ?? []);
  const isWeaker = !pauses || outranks(paragraphPause.origin, pauses.origin);
  const { paragraph = paragraphPause.value } = isWeaker ? {} : said;
  return { ...USUAL_PAUSES, ...said, paragraph };
}

/**
 * Makes each sentence a segment with subtitles, events or a read-along book, unless `--max-chars` was typed, and always with
 * a fallback voice.
 */
function cuttingOf(
  settings: Settings,
  role: Role | undefined,
  { fallback, output }: { readonly fallback?: object | undefined; readonly output?: OutputPlan } = {},
): Omit<TextPlan, 'sources' | 'stages'> {
  const { callbackUrl, maxChars, subtitles, events } = settings;
  const chapters = settings.chapters?.value;
  if (callbackUrl)
    return {
      role: role && { ...role, maxChars: Number.MAX_SAFE_INTEGER },
      pace: 'whole',
      cutsParagraphs: false,
      chapters,
    };
  const bySentence =
    (subtitles ?? events ?? output?.encoding.name === 'epub') && maxChars.origin.place !== 'option';
  const borders = bordersOf(settings);
  const isFine = bySentence || fallback !== undefined;
  const usesKept = borders.pace !== 'sentence';
  return { role, ...borders, ...(isFine && { pace: 'sentence', usesKept }), chapters };
}

/** Chooses where the text is cut: a silence that the user asked for needs a segment on each side. */
export function bordersOf(settings: Settings): Pick<TextPlan, 'pace' | 'cutsParagraphs'> {
  const { pauses, paragraphPause } = settings;
  return {
    pace: pausesOf(settings).sentence > 0 ? 'sentence' : 'by output',
    cutsParagraphs: paragraphPause.origin.place !== 'default' || pauses?.value.has('paragraph') === true,
  };
}

/**
 * Refuses to write a file that the run reads, or that is also another output.
 * @throws TtsError (usage)
 */
function assertInputsKept(
  files: readonly string[],
  { settings, files: configs }: LoadedSettings,
  output: OutputPlan,
  host: Pick<Host, 'cwd' | 'home'>,
): void {
  const written = writtenBy(output, settings);
  if (written.length === 0) return;
  const { lexicon, cover } = settings;
  const read = files.map((name) => ({ option: '--file', path: name === '-' ? '/dev/stdin' : name }));
  read.push(...keyFilesIn(settings, host));
  read.push(...configs.map(({ path }) => ({ option: 'the config', path })));
  if (cover) read.push({ option: '--cover', path: cover.value });
  for (const each of lexicon ? singleNames(lexicon) : [])
    read.push({ option: '--lexicon', path: namedFile(each, host, '--lexicon') });
  const taken = read.map(({ option, path }) => ({ option, file: fileAt(path, host), loss: LOST_INPUT }));
  for (const { option, name, path } of written) {
    const file = fileAt(path, host, true);
    const other = file && taken.find((each) => each.file === file);
    if (other)
      throw usageError(
        `${option} and ${other.option} are the same file: ${name}`,
        `choose another name for ${option}: ${other.loss}`,
      );
    taken.push({ option, file, loss: LOST_OUTPUT });
  }
}

const LOST_INPUT = 'what is in that file would be lost';
const LOST_OUTPUT = 'one would replace the other';

interface WrittenFile {
  readonly option: string;
  readonly name: string;
  readonly path: string;
}

function writtenBy(
  { name = '-', isPlayed }: OutputPlan,
  { subtitles, events, callbackUrl, dryRun }: Settings,
): WrittenFile[] {
  const files = [
    { option: '--output', name },
    { option: '--subtitles', name: subtitles?.value ?? '-' },
    { option: '--events', name: events && !isDescriptor(events.value) ? events.value : '-' },
  ]
    .filter(({ name }) => !isStdout(name))
    .map(({ option, name }) => ({ option, name, path: name }));
  const isElsewhere = !isStdout(name) || isPlayed || callbackUrl || dryRun.value;
  return isElsewhere
    ? files
    : [...files, { option: 'stdout', name: 'where ">" points', path: '/dev/stdout' }];
}

/** @returns a key, the same for all names of a file; `undefined` for devices and pipes, which one may both read and write */
function fileAt(name: string, { cwd }: Pick<Host, 'cwd'>, mayBeNew = false): string | undefined {
  try {
    const path = pathOf(cwd, name);
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats?.isFile()) return `${stats.dev}:${stats.ino}`;
    if (stats || !mayBeNew) return undefined;
    const target = linkTarget(path);
    return join(realpathSync(dirname(target)), basename(target));
  } catch {
    return undefined;
  }
}

export interface SpeakRequest extends Input {
  readonly flags: Flags;
}

/** Everything that a run needs to speak, resolved and checked. */
export interface SpeechJob {
  readonly output: OutputPlan;
  readonly mix: Mix;
  readonly tags: TagsPlan;
  /** A service sends the sound to this address instead of here. */
  readonly callbackUrl: string | undefined;
  readonly json: boolean;
  readonly text: TextPlan;
  /** Closed by the run that speaks the job. */
  readonly voices: Voices;
  /** Speaks wherever the text names no other voice. */
  readonly speaker: Speaker;
  /** Set if the text may name other voices. */
  readonly cast: Cast | undefined;
  readonly lexicon: Lexicon['lines'];
  /** The limit of the cache in bytes; `undefined` turns the cache off. */
  readonly cacheBytes: number | undefined;
  /** A note about the service, shown before the first request. */
  readonly note: string | undefined;
  readonly chosen: string | number | undefined;
  readonly keepsGoing: boolean;
  /** The voice that takes over if another one fails. */
  readonly fallback: Fallback | undefined;
  /** How long to wait for a voice. It applies only to sound that is heard live. */
  readonly patience: Patience | undefined;
  /** The text is a model's answer, which may have nothing to speak. */
  readonly isAssistant: boolean;
  readonly echo: Echo | undefined;
  /** Set if other runs may wait for this one. */
  readonly channel:
    | { readonly name: string | undefined; readonly interrupts: boolean; readonly joins: boolean }
    | undefined;
  /** The number of a descriptor, or a file name. */
  readonly events: string | undefined;
  readonly subtitles: SubtitlesPlan | undefined;
  /** The subtitles hold the time of each word. */
  readonly timesWords: boolean;
  readonly split: SplitPlan | undefined;
}

export interface Pricing {
  readonly per1000Chars: number;
  /** As the user wrote it. */
  readonly currency: string | undefined;
}

export type Resolved =
  | {
      readonly mode: 'show-text';
      readonly text: TextPlan;
      /** The language in which numbers are written out for the voice. */
      readonly numbers: string | undefined;
    }
  | { readonly mode: 'speak'; readonly job: SpeechJob }
  | { readonly mode: 'dry-run'; readonly job: SpeechJob; readonly pricing: Pricing | undefined };

/**
 * Turns settings into a job: later code sees no settings. Opens no output and sends no text: services and engines are asked
 * only for their speakers.
 * @throws TtsError (usage, key, output)
 */
export async function resolveJob(request: SpeakRequest, context: RunContext): Promise<Resolved> {
  const { host, notices } = context;
  for (const file of request.files) notices.spare(file);
  const loaded = await loadSettings(request, context);
  const settings = withAssistant(loaded.settings);
  const { planned, lines } = await planText(request, settings, context);
  if (settings.showText.value) return shownText(request, planned, settings, context);
  assertHeardHere(settings);
  assertFits(settings, request);
  const output = planOutput(settings, context);
  assertInputsKept(request.files, loaded, output, host);
  if (settings.events) (await import('./events.ts')).assertOpenedByCaller(settings.events.value);
  const asked = { encode: output.encode, sampleRate: settings.sampleRate?.value };
  if (output.name !== undefined) assertFormatKnown(output.name, asked, host.cwd);
  const split = planSplit(settings, output);
  const echo = await echoFor(request, settings, output, host);
  const service = await chooseService(settings, { ...context, files: loaded.files });
  const voices = await openVoices({ settings, service: async () => service }, context);
  const speaker = await speakerFor(voices, service, settings, context);
  const others = await othersOf(settings, { output, speaker, voices }, context);
  const job: SpeechJob = {
    ...planRun(settings, output),
    ...others,
    text: {
      ...planned,
      sources: () => sourcesOf(request, settings, host, echo?.text),
      cast: others.cast?.plan,
      ...cuttingOf(settings, asRole(speaker), { ...others, output }),
    },
    echo,
    voices,
    speaker,
    cacheBytes: await voices.cacheBytesFor(speaker),
    note: service?.note,
    lexicon: lines,
    split,
    subtitles: await subtitlesOf(settings, host),
  };
  if (!settings.dryRun.value) return { mode: 'speak', job };
  return { mode: 'dry-run', job, pricing: pricingOf(settings) };
}

async function shownText(
  request: SpeakRequest,
  planned: Awaited<ReturnType<typeof planText>>['planned'],
  settings: Settings,
  context: RunContext,
): Promise<Resolved> {
  const cast = hasCast(settings) ? textCast(settings) : undefined;
  const sources = () => sourcesOf(request, settings, context.host);
  const text = { ...planned, sources, cast, ...cuttingOf(settings, undefined) };
  return { mode: 'show-text', text, numbers: await numbersOf(settings, context) };
}

/** @returns `undefined` also if the voice cannot be found: the text can still be shown */
async function numbersOf(settings: Settings, context: RunContext): Promise<string | undefined> {
  const { speaker, engine, language, baseUrl } = settings;
  if (baseUrl || !(speaker || engine || language)) return undefined;
  try {
    await using voices = await openVoices({ settings, service: async () => undefined }, context);
    return (await voices.of()).voice.numbers;
  } catch {
    context.signal.throwIfAborted();
    return undefined;
  }
}

/** Plans what showing a text and speaking it have in common. */
async function planText(input: Input, settings: Settings, context: RunContext) {
  const { stages, lines } = await stagesOf(settings, context);
  const filter = await answerFilterOf(settings);
  return { planned: { stages, filter, isConversation: isConversationIn(settings, input) }, lines };
}

async function speakerFor(
  voices: Voices,
  service: Awaited<ReturnType<typeof chooseService>>,
  settings: Settings,
  context: RunContext,
): Promise<Speaker> {
  return voices.of().catch(async (error) => {
    if (!service) throw withForgottenBase(error, settings);
    throw await withListedNumber(error, settings, service, context);
  });
}

async function othersOf(
  settings: Settings,
  planning: { output: OutputPlan; speaker: Speaker; voices: Voices },
  context: RunContext,
): Promise<Pick<SpeechJob, 'cast' | 'fallback' | 'patience'>> {
  const cast = await castOf(settings, planning.voices);
  if (!settings.fallback && !settings.patience) return { cast, fallback: undefined, patience: undefined };
  const { planFallback, planPatience } = await import('../voices/fallback.ts');
  const plan = { ...planning, makesFile: () => makesFile(planning.output, context.host) };
  const fallback = await planFallback(settings, plan);
  return { cast, fallback, patience: planPatience(settings, fallback !== undefined) };
}

async function subtitlesOf(settings: Settings, host: RunContext['host']): Promise<SpeechJob['subtitles']> {
  const { subtitles, words } = settings;
  if (words.value && !subtitles)
    throw usageError(
      `${words.origin.name} only works with --subtitles`,
      'add --subtitles out.vtt, .json, .ass or .srt',
    );
  return subtitles && (await import('./subtitles.ts')).planSubtitles(subtitles.value, settings, host);
}

/** Without these options, a run that plays can still be stopped, paused and waited for, on the channel of its terminal. */
function channelOf({ interrupt, queue, channel }: Settings, { isPlayed }: OutputPlan): SpeechJob['channel'] {
  const joins = !interrupt.value && !queue.value && !channel;
  if (joins && !isPlayed) return undefined;
  return { name: channel?.value, interrupts: interrupt.value, joins };
}

/** @throws TtsError (usage) */
function eventsOf({ events, split, callbackUrl }: Settings): string | undefined {
  const other = split ?? callbackUrl;
  if (!events || !other) return events?.value;
  throw usageError(
    `--events tells what is heard here, and ${other.origin.name} makes sound for later`,
    'leave one of them out',
  );
}

/** @throws TtsError (usage) where no messages can come */
function isConversationIn({ input }: Settings, { files }: Input): boolean {
  if (input && !files.includes('-'))
    throw usageError(
      '--input jsonl: the messages come from stdin',
      'leave out the words and the files, or --input',
    );
  return input !== undefined;
}

/** Echoes neither typed text, which the terminal already shows, nor messages, which are not for people. */
async function echoFor(
  { files }: Input,
  { echo, dryRun, input }: Settings,
  { name, isPlayed }: OutputPlan,
  host: RunContext['host'],
): Promise<Echo | undefined> {
  if (!echo.value || input || dryRun.value || !files.includes('-') || host.stdin.isTTY) return undefined;
  return (await import('../read/echo.ts')).echoOf(host, !isPlayed && isStdout(name ?? '-'));
}

/** @returns `undefined` if the text names no voices and has no other marks */
export async function castOf(settings: Settings, voices: Voices): Promise<Cast | undefined> {
  return hasCast(settings) ? Cast.open(settings, voices) : undefined;
}

/** @throws TtsError (usage) */
function assertHeardHere({ speed, callbackUrl }: Settings): void {
  if (speed?.origin.place !== 'option' || !callbackUrl || speed.value === 1) return;
  throw usageError(
    '--speed changes what is heard here, and with --callback-url the sound goes elsewhere',
    'leave one of them out; the instructions of a voice reach the service: -i "faster"',
  );
}

/** @throws TtsError (usage) for `--fit` with anything but the subtitles of one film */
function assertFits({ fit, length, callbackUrl, split, input }: Settings, { words, files }: Input): void {
  if (!fit && length)
    throw usageError('--length only works with --fit', 'give --fit as well, or leave --length out');
  if (!fit) return;
  const other = callbackUrl ?? split ?? input;
  if (other)
    throw usageError(
      `--fit and ${other.origin.name} cannot be used together`,
      'leave one of them out: --fit makes one sound from one subtitle file',
    );
  if (words.length > 0 || files.length > 1)
    throw usageError(
      '--fit makes the sound of one film',
      'name one subtitle file with -f; tts batch takes many, one per row',
    );
}

/** @throws TtsError (usage) */
function hasCast({ marks, voices, languages, callbackUrl }: Settings): boolean {
  const said = marks.value ? marks : (voices ?? languages);
  if (!said || !callbackUrl) return said !== undefined;
  throw usageError(
    `${said.origin.name}: pauses and voices need several requests, and with --callback-url the text is one`,
    `leave --callback-url out, or speak the text ${marks.value ? 'with --no-marks' : voices ? 'without --voices' : 'without --languages'}`,
  );
}

export function pricingOf({ pricePer1000Chars, currency }: Settings): Pricing | undefined {
  return pricePer1000Chars && { per1000Chars: pricePer1000Chars.value, currency: currency?.value };
}

/** Computes a price, rounded to a ten-thousandth. */
export function costOf(characters: number, { per1000Chars, currency }: Pricing) {
  const price = Math.round(characters * per1000Chars * 10) / 10_000;
  return { price, ...(currency !== undefined && { currency }) };
}

/** The fields of a job that follow from the settings and the output alone. */
function planRun(settings: Settings, output: OutputPlan) {
  const { title, author, speaker, cover } = settings;
  return {
    output,
    mix: mixOf(settings),
    tags: {
      title: title?.value,
      author: author?.value,
      speaker: typeof speaker?.value === 'string' ? speaker.value : undefined,
      cover: cover?.value,
    },
    callbackUrl: settings.callbackUrl?.value.href,
    json: settings.json.value,
    isAssistant: settings.assistant.value,
    channel: channelOf(settings, output),
    events: eventsOf(settings),
    chosen: speaker?.value,
    keepsGoing: settings.keepGoing.value,
    timesWords: settings.words.value,
  };
}
