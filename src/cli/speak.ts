import { statSync } from 'node:fs';
import { Drops } from '../kit/drops.ts';
import { ExitCode, Silenced, TtsError, usageError } from '../kit/error.ts';
import { pathOf } from '../kit/folders.ts';
import { textHint } from '../kit/hints.ts';
import type { Host } from '../kit/host.ts';
import { shellQuoted } from '../kit/words.ts';
import type { Flags } from '../options/load.ts';
import type { Delivery, Sink } from '../out/sink.ts';
import { kindOfName, OUTPUT } from '../read/first-bytes.ts';
import { NothingToSay } from '../read/source.ts';
import { SEGMENTS_PER_SLOT } from '../run/ahead.ts';
import type { RunEvents } from '../run/events.ts';
import { resolveJob, type SpeakRequest, type SpeechJob } from '../run/job.ts';
import { makesFile, type Outputs, openOutputs, type SplitPlan } from '../run/outputs.ts';
import type { ReadAlong } from '../run/read-along.ts';
import { type DeliverOptions, deliver } from '../run/run.ts';
import { RunText } from '../run/text.ts';
import { RunTotals } from '../run/totals.ts';
import type { WordTimes } from '../run/words.ts';
import type { Tags } from '../sound/pcm.ts';
import type { Places } from '../text/places.ts';
import type { Turn } from './channel.ts';
import { type CommandLine, type Context, namedCommands } from './commands.ts';
import { FIRST_STEPS } from './help-text.ts';
import { checkLanguage } from './language-check.ts';
import { Misfits } from './misfits.ts';
import { MissingText } from './missing-text.ts';
import { type Progress, showProgress, totalOf } from './progress.ts';
import {
  printSummary,
  Reporting,
  report,
  warnOfAbsent,
  warnOfNamesBefore,
  warnOfRoom,
  withStop,
} from './speak-report.ts';

/** Words of the longest command, as in `cache clear`. */
const LONGEST_COMMAND = 2;

export async function run(line: CommandLine, context: Context): Promise<number> {
  const { notices } = context;
  const { file: files = [], ...flags } = line.flags as Flags & { readonly file?: readonly string[] };
  const typed: Typed = { words: line.words, files };
  assertNoFile(flags.instructions, context.host);
  const file = fileOf(typed, context);
  const input = file === undefined ? inputOf(typed, context.host) : { words: [], files: [file] };
  if (!input) {
    notices.print(FIRST_STEPS);
    return ExitCode.usage;
  }
  const note =
    file === undefined
      ? likelyMistake(typed, context)
      : `${file} is a file, so its text is spoken; to speak its name, put -- before it`;
  if (note !== undefined && !flags.quiet) notices.note(note);
  return speak({ flags, ...input }, context);
}

/** The words and files that hold the text. */
type Typed = Pick<SpeakRequest, 'words' | 'files'>;

/** True after `tts speak` or `--`, which say that words are text, whatever they look like. */
function areForSpeaking({ named, argv }: Pick<Context, 'named' | 'argv'>): boolean {
  return named || argv.includes('--');
}

/** Returns the only word, if it is the path of a text or book that exists. */
function fileOf({ words, files }: Typed, context: Context): string | undefined {
  const [word, ...more] = words;
  if (word === undefined || more.length > 0 || files.length > 0 || areForSpeaking(context)) return undefined;
  return isReadable(word, context.host) ? word : undefined;
}

function isReadable(name: string, host: Pick<Host, 'cwd'>): boolean {
  return kindOfName(name) !== undefined && areFiles([name], host);
}

/** Refuses `-i FILE`, with which other tools name their input. */
function assertNoFile(instructions: unknown, host: Pick<Host, 'cwd'>): void {
  if (typeof instructions !== 'string' || !isReadable(instructions, host)) return;
  throw usageError(
    `--instructions: ${instructions} is a file`,
    `-f ${instructions} speaks what is in it; -i says how a voice is to speak: -i "slowly"`,
  );
}

/** Returns a note if the words to be spoken look like a command, another tool's options or files. */
function likelyMistake({ words }: Typed, context: Context): string | undefined {
  const { host } = context;
  if (areForSpeaking(context)) return undefined;
  const [first = ''] = words;
  if (namedCommands().includes(first) && words.length <= LONGEST_COMMAND)
    return `"${words.join(' ')}" is read as text to speak: a command must come before its options`;
  const hint = textHint(words.join(' '));
  if (hint !== undefined) return `the text is spoken as it stands; ${hint}`;
  if (areFiles(words, host)) return `the name ${first} is spoken; -f ${first} speaks what is in that file`;
  if (words.length > 1 || /\s/.test(first) || kindOfName(first) === undefined) return undefined;
  return `the name ${first} is spoken; there is no such file`;
}

function areFiles(words: readonly string[], { cwd }: Pick<Host, 'cwd'>): boolean {
  const isFile = (word: string) => {
    try {
      return /\.\w+$/.test(word) && statSync(pathOf(cwd, word)).isFile();
    } catch {
      return false;
    }
  };
  return words.length > 0 && words.every(isFile);
}

function inputOf({ words, files }: Typed, host: Host): Typed | undefined {
  if (words.length > 0 && files.length > 0) throw givenTwice(words, files, host);
  if (words.length === 1 && words[0] === '-') return { words: [], files: ['-'] };
  if (files.includes(''))
    throw usageError('-f: "" is not the name of a file', 'name the file that holds the text; "-" is stdin');
  if (files.filter((file) => file === '-').length > 1)
    throw usageError('-f - is given twice', 'stdin can be read only once');
  if (words.length > 0 || files.length > 0) return { words, files };
  return host.stdin.isTTY ? undefined : { words, files: ['-'] };
}

function givenTwice(words: readonly string[], files: readonly string[], host: Pick<Host, 'cwd'>): TtsError {
  const each = [...files, ...words].map((file) => `-f ${shellQuoted(file)}`).join(' ');
  const hint = areFiles(words, host)
    ? `every file needs its own -f: ${each}`
    : 'quote values with spaces, or leave one of the two out';
  return usageError('the text is given twice, by words and with -f', hint);
}

/** Seconds of speech per character of English prose. A text has at least as many bytes, so this estimates high. */
const SECONDS_PER_BYTE = 0.067;

interface TurnContext extends Context {
  readonly turn: Turn | undefined;
}

async function speak(request: SpeakRequest, context: Context): Promise<number> {
  const resolved = await resolveJob(request, context);
  if (resolved.mode === 'show-text') return (await import('./preview.ts')).showText(resolved, context);
  if (resolved.mode === 'dry-run') return (await import('./preview.ts')).dryRun(resolved, context);
  const { job } = resolved;
  if (job.echo) context.notices.breakLineWith(() => job.echo?.breakLine() ?? '');
  try {
    using turn =
      job.channel &&
      (await (await import('./channel.ts')).takeChannel(job.channel, context.host, context.signal));
    const speaking = job.split
      ? speakChapters(job, job.split, context)
      : speakJob(job, request, { ...context, turn });
    const status = await speaking.catch((error) => {
      throw context.signal.aborted && turn?.isSilenced ? new Silenced() : error;
    });
    await job.echo?.finish(context.signal);
    return status;
  } catch (error) {
    if (error instanceof Silenced) return endSilenced(job, context);
    // --echo shows the rest of the text even if the voice has failed.
    await job.echo?.finish(context.signal).catch((reason) => {
      if (error !== reason) context.notices.warn((error as Error).message);
      throw reason;
    });
    throw withOutputName(error, job);
  }
}

/**
 * Ends a run that `tts stop` has silenced: with success if it was played, since silence was wanted.
 * @throws the reason of the signal for a run that was making a file
 */
async function endSilenced(job: SpeechJob, { host, signal }: Context): Promise<ExitCode> {
  await job.echo?.finish(signal).catch(() => {});
  if (job.split || (await makesFile(job.output, host))) throw signal.reason;
  return ExitCode.ok;
}

/** Puts the name of the output into a hint that shows how another kind of document is spoken. */
function withOutputName(error: unknown, { output: { name } }: SpeechJob): unknown {
  if (!(error instanceof TtsError) || !error.hint?.includes(OUTPUT)) return error;
  const output = name === undefined ? '' : ` -o ${shellQuoted(name)}`;
  return error.reworded(error.message, { hint: error.hint.replace(` ${OUTPUT}`, () => output) });
}

/** Speaks one text to one output. Nothing is sent before everything is checked and open. */
async function speakJob(job: SpeechJob, request: SpeakRequest, context: TurnContext): Promise<number> {
  const totals = new RunTotals();
  await using _voices = job.voices;
  // The voices start while the text and the output are opened. Nothing is sent yet.
  const opening = openAll(job);
  opening.catch(() => {});
  const { text, printNotes } = await openText(job, context);
  await using words = await timeWords(job, context);
  const readAlong = await readAlongOf(job, text, context);
  const heard = { ...job, words: job.timesWords ? words : undefined, encoding: readAlong?.encoding };
  await using outputs = await openOutputs(heard, context);
  const { sink, subtitles } = outputs;
  context.turn?.onPause((isPaused) => sink.pause?.(isPaused));
  const drops = sink.isLive && (job.text.isConversation || job.text.filter) ? new Drops() : undefined;
  await using events = await eventsOf(job, sink, { ...context, drops, words });
  const places = events?.places ?? (await placesFor(job));
  using progress = progressOf(job, request, { text, isLive: sink.isLive }, context);
  await printNotes();
  warnOfRoom(job, SECONDS_PER_BYTE * text.knownSize, context);
  const speaking = speakingIn(job);
  const leftOut = await MissingText.of(job, speaking.speakerOf, context);
  const misfits = job.mix.fit && new Misfits(job.mix.fit, context.notices);
  const reports = { totals, subtitles, leftOut, misfits };
  const delivery = await deliver({
    segments: (until) => text.segments(sink.isLive, until, { drops, places }),
    ...speaking,
    drops,
    fallback: job.fallback,
    patience: sink.isLive || job.output.isPlayed ? job.patience : undefined,
    window: SEGMENTS_PER_SLOT * (await opening),
    tags: job.output.encoding.name === 'wav' ? undefined : await tagsFor(job, text, context),
    sink,
    signal: context.signal,
    maySkip: leftOut.maySkip,
    blank: () => text.blank(),
    listeners: listenersOf(job, { ...reports, progress, events, readAlong }, context),
  }).catch((error) => blankOrStopped(error, job, { text, isLive: sink.isLive }, context.signal));
  progress?.[Symbol.dispose]();
  events?.end(delivery === 'blank' ? undefined : delivery);
  if (delivery === 'blank') return ExitCode.ok;
  return await finish(job, { ...reports, delivery, text }, context);
}

interface Reports extends Pick<Outputs, 'subtitles'> {
  readonly totals: RunTotals;
  readonly leftOut: MissingText;
  readonly misfits: Misfits | undefined;
  readonly progress: Progress | undefined;
  readonly events: RunEvents | undefined;
  readonly readAlong: ReadAlong | undefined;
}

function listenersOf(job: SpeechJob, reports: Reports, context: Context): DeliverOptions['listeners'] {
  const { totals, progress, subtitles, leftOut, misfits, events, readAlong } = reports;
  const reporting = new Reporting(job, progress, context);
  return [totals, progress?.count, reporting, subtitles, leftOut, misfits, events?.listener, readAlong];
}

/**
 * Turns a blank answer of a model, and one that was stopped before its first sound, into success. Adds to any other error where
 * the run stopped.
 */
async function blankOrStopped(
  error: unknown,
  job: SpeechJob,
  { text, isLive }: { readonly text: RunText; readonly isLive: boolean },
  signal: AbortSignal,
): Promise<'blank'> {
  if ((job.isAssistant || text.wasStopped) && error instanceof NothingToSay) return 'blank';
  throw await withStop(error, { ...job, text, isLive }, signal);
}

/** @returns the text, and a function that prints notes and warnings about it before anything is paid for */
async function openText(job: SpeechJob, context: Context) {
  const { notices, signal } = context;
  const text = await RunText.open(job.text, signal);
  const warning = await checkLanguage(job, text, context);
  const printNotes = async () => {
    if (job.note) notices.note(job.note);
    if (warning !== undefined) notices.warn(warning);
    await warnOfNamesBefore(job, text, context);
  };
  return { text, printNotes };
}

async function timeWords(job: SpeechJob, context: Context): Promise<WordTimes | undefined> {
  if (!job.timesWords && job.events === undefined) return undefined;
  const { openReference, WordTimes } = await import('../run/words.ts');
  return new WordTimes(speakingIn(job).speakerOf, {
    ...context,
    openReference: () => openReference(context.host),
  });
}

/** The places of words in the input, for subtitles that contain them. */
async function placesFor({ timesWords, subtitles }: SpeechJob): Promise<Places | undefined> {
  if (!timesWords || !subtitles?.style.namesPlaces) return undefined;
  return new (await import('../text/places.ts')).Places();
}

async function eventsOf(
  { events }: SpeechJob,
  sink: Sink,
  context: Context & { readonly drops: Drops | undefined; readonly words: WordTimes | undefined },
): Promise<RunEvents | undefined> {
  if (events === undefined) return undefined;
  return (await import('../run/events.ts')).openEvents(events, sink, context);
}

/** Shows no progress where its line would wipe away what a person types, or the text of `--echo`. */
function progressOf(
  { echo, output }: SpeechJob,
  { files }: SpeakRequest,
  { text, isLive }: { readonly text: RunText; readonly isLive: boolean },
  context: Context,
): Progress | undefined {
  if (echo !== undefined || (files.includes('-') && context.host.stdin.isTTY)) return undefined;
  return showProgress((until) => totalOf(text, isLive, until), context, { isLive, isHeard: output.isPlayed });
}

async function readAlongOf(
  { output: { encoding, bitrate }, speaker: { voice } }: SpeechJob,
  text: RunText,
  { signal }: Context,
): Promise<ReadAlong | undefined> {
  if (encoding.name !== 'epub') return undefined;
  const { openReadAlong } = await import('../run/read-along.ts');
  const { language, name: narrator } = voice;
  return openReadAlong(text.book, { bitrate, language, narrator, name: text.name }, signal);
}

/** Returns who speaks which segment, and how the sound is joined. */
function speakingIn({
  cast,
  speaker,
  fallback,
  mix,
}: SpeechJob): Pick<DeliverOptions, 'speakerOf' | 'lead' | 'mix'> {
  return {
    mix,
    speakerOf: (segment) => (fallback?.speaks(segment) ? fallback.speaker : segment.role.speaker),
    lead: (cast ?? fallback) && speaker,
  };
}

interface Spoken extends Pick<Reports, 'totals' | 'leftOut' | 'misfits' | 'subtitles'> {
  readonly delivery: Delivery | undefined;
  readonly text: RunText;
}

async function finish(
  job: SpeechJob,
  { totals, delivery, leftOut, misfits, text, subtitles }: Spoken,
  context: Context,
): Promise<ExitCode> {
  const { notices, signal } = context;
  if (delivery && !delivery.readerLeft) await subtitles?.publish(signal);
  if (delivery?.failure) throw delivery.failure;
  report(job, totals, delivery, context);
  if (!delivery?.readerLeft) warnOfAbsent(job, notices);
  const leftOutError = await sayWhatIsMissing(leftOut, text, notices);
  const missing = leftOutError ?? (delivery?.readerLeft ? undefined : misfits?.error());
  if (job.json) printSummary({ ...job, misfits: misfits?.list }, totals, delivery, notices);
  if (missing) throw missing;
  return job.fallback?.outcome && !delivery?.readerLeft ? ExitCode.partial : ExitCode.ok;
}

async function speakChapters(job: SpeechJob, plan: SplitPlan, context: Context): Promise<number> {
  const { notices } = context;
  const totals = new RunTotals();
  await using _voices = job.voices;
  const { text, printNotes } = await openText(job, context);
  const speaking = speakingIn(job);
  const leftOut = await MissingText.of(job, speaking.speakerOf, context);
  const split = {
    ...plan,
    text,
    ...speaking,
    tags: await tagsFor(job, text, context),
    maySkip: leftOut.maySkip,
    listeners: [totals, leftOut],
    async begin(progress: Progress | undefined) {
      await printNotes();
      const reporting = new Reporting(job, progress, context);
      return { reporting, window: SEGMENTS_PER_SLOT * (await openAll(job)) };
    },
  };
  const status = await (await import('./split.ts')).speakSplit(job, split, context);
  warnOfAbsent(job, notices);
  const missing = await sayWhatIsMissing(leftOut, text, notices);
  if (missing) throw missing;
  return status;
}

async function sayWhatIsMissing(
  leftOut: MissingText,
  { remarks }: RunText,
  notices: Context['notices'],
): Promise<TtsError | undefined> {
  for (const remark of remarks) notices.note(remark);
  return leftOut.finish();
}

async function tagsFor(job: SpeechJob, { about }: RunText, context: Context): Promise<Tags> {
  return (await import('../run/tags.ts')).tagsOf(job.tags, { about, voice: job.speaker.voice }, context);
}

/** @returns the number of texts that all voices together speak at once */
async function openAll({ voices, speaker, cast }: SpeechJob): Promise<number> {
  const all = new Set([speaker, ...(cast?.all ?? [])]);
  for (const each of all) await voices.open(each);
  return [...all].reduce((sum, { voice }) => sum + voice.source.atOnce, 0);
}
