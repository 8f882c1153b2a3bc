import { ExitCode, Silenced, TtsError } from '../kit/error.ts';
import { OUTPUT } from '../kit/hints.ts';
import { type Drops, dropsBy } from '../kit/host.ts';
import type { Delivery, Sink } from '../out/sink.ts';
import { NothingToSay } from '../read/plain.ts';
import type { RunEvents } from '../run/events.ts';
import { resolveJob, type SpeakRequest, type SpeechJob } from '../run/job.ts';
import { makesFile, type Outputs, openOutputs } from '../run/outputs.ts';
import { type DeliverOptions, deliver } from '../run/run.ts';
import { RunText } from '../run/text.ts';
import { RunTotals } from '../run/totals.ts';
import type { Tags } from '../sound/pcm.ts';
import type { Segment } from '../text/segment.ts';
import { roleIn } from '../voices/cast.ts';
import type { Voice, VoiceEvent } from '../voices/voice.ts';
import type { Turn } from './channel.ts';
import type { Context } from './context.ts';
import { explainStop, warnOfRoom } from './hints.ts';
import { checkLanguage } from './language-check.ts';
import { notesFor, type Progress, progressOf, showProgress, totalOf } from './progress.ts';
import { leftOutOf } from './skipped.ts';
import { eventsTo, report, tellAbsent, tellNamesBefore } from './speak-report.ts';

/** Each open request allows this number of segments ahead, so that all stay busy behind a slow one. */
const WINDOW = 2;

/** English prose at a usual pace. */
const SECONDS_PER_BYTE = 0.067;

interface InTurn extends Context {
  readonly turn: Turn | undefined;
}

export async function speak(request: SpeakRequest, context: Context): Promise<number> {
  const resolved = await resolveJob(request, context);
  if (resolved.mode === 'show-text') return (await import('./preview.ts')).showText(resolved.text, context);
  if (resolved.mode === 'dry-run') return (await import('./preview.ts')).dryRun(resolved, context);
  const { job } = resolved;
  if (job.echo) context.notices.besides(() => job.echo?.breakLine() ?? '');
  try {
    using turn =
      job.channel &&
      (await (await import('./channel.ts')).takeChannel(job.channel, context.host, context.signal));
    const speaking = job.split ? speakChapters(job, context) : speakJob(job, request, { ...context, turn });
    const status = await speaking.catch((error) => {
      throw context.signal.aborted && turn?.isSilenced ? new Silenced() : error;
    });
    await job.echo?.finish(context.signal);
    return status;
  } catch (error) {
    if (error instanceof Silenced) return endSilenced(job, context);
    // The text goes on where its voice failed.
    await job.echo?.finish(context.signal).catch((reason) => {
      if (error !== reason) context.notices.warn((error as Error).message);
      throw reason;
    });
    throw withOutputName(error, job);
  }
}

/**
 * A run that was to be heard has nothing to say: silence is what was wanted.
 * @throws the reason of the signal for a run that was to make a file
 */
async function endSilenced(job: SpeechJob, { host, signal }: Context): Promise<ExitCode> {
  await job.echo?.finish(signal).catch(() => {});
  if (job.split || (await makesFile(job.output, host))) throw signal.reason;
  return ExitCode.ok;
}

/** Puts the name of the output into a hint that shows how another kind of document is spoken. */
function withOutputName(error: unknown, { output: { name } }: SpeechJob): unknown {
  if (!(error instanceof TtsError) || !error.hint?.includes(OUTPUT)) return error;
  const output = name === undefined ? '' : ` -o '${name.replaceAll("'", "'\\''")}'`;
  return error.reworded(error.message, { hint: error.hint.replace(` ${OUTPUT}`, () => output) });
}

/** Nothing is sent before everything is checked and open. */
async function speakJob(job: SpeechJob, request: SpeakRequest, context: InTurn): Promise<number> {
  const { notices, signal } = context;
  const totals = new RunTotals();
  await using voices = job.voices;
  const text = await RunText.open(job.text, signal);
  const languageWarning = await checkLanguage(job, text, context);
  const tags = await tagsFor(job, text, context);
  await using outputs = await openHeard(job, context);
  const { sink, subtitles } = outputs;
  const { isLive } = sink;
  using drops = dropsBy(context.host, isLive);
  await using events = await tellEvents(job, sink, { ...context, drops });
  job.fallback?.listen((how) => events?.listener.fallBack(how));
  const total = (until: AbortSignal) => totalOf(text, isLive, until);
  using progress = isTerminalShared(job, request, context)
    ? undefined
    : await showProgress(total, context, isLive || job.output.isPlayed);
  // A run that is heard needs no progress.
  using _notes = job.output.isPlayed ? undefined : notesFor(context, progressOf({ totals, total }));
  await tellBefore(job, { text, languageWarning }, context);
  voices.listen(await introduced(job, context, eventsTo(totals, progress, notices)));
  voices.listen((event) => job.patience?.onEvent(event));
  const atOnce = await openAll(job);
  const leftOut = await leftOutOf(job, voiceIn(job), context);
  const delivery = await deliver({
    segments: (until) => text.segments(isLive, until, { drops, places: events?.places }),
    ...speakingIn(job, isLive),
    drops,
    window: WINDOW * atOnce,
    tags,
    sink,
    signal,
    skipping: leftOut,
    blank: () => text.blank(),
    listeners: [totals, job.fallback, progress?.count, subtitles, leftOut, events?.listener],
  }).catch((error) => blankOrStopped(error, job, { text, isLive }, signal));
  progress?.stop();
  events?.end(delivery === 'blank' ? undefined : delivery);
  return delivery === 'blank'
    ? ExitCode.ok
    : await finish(job, { totals, delivery, leftOut, text, subtitles }, context);
}

/** An answer of a model may be blank, and the run ends well. */
async function blankOrStopped(
  error: unknown,
  job: SpeechJob,
  { text, isLive }: { readonly text: RunText; readonly isLive: boolean },
  signal: AbortSignal,
): Promise<'blank'> {
  if (job.isAssistant && error instanceof NothingToSay) return 'blank';
  throw await explainStop(error, { ...job, text, isLive, voiceOf: voiceIn(job) }, signal);
}

async function tellBefore(
  job: SpeechJob,
  { text, languageWarning }: { text: RunText; languageWarning: Parameters<typeof sayBefore>[1] },
  context: InTurn,
): Promise<void> {
  sayBefore(job, languageWarning, context.notices);
  await tellNamesBefore(job, text, context);
  // Bytes are as many as the characters, or more.
  warnOfRoom(job, SECONDS_PER_BYTE * text.knownSize, context);
}

/** Introduces a voice that comes without a service or an engine being named. */
async function introduced(
  job: SpeechJob,
  context: Context,
  onEvent: (event: VoiceEvent) => void,
): Promise<(event: VoiceEvent) => void> {
  const { kind } = job.voice;
  if (kind === 'service' || kind === 'engine' || context.notices.quiet) return onEvent;
  return (await import('./hints.ts')).introducing(job, context, onEvent);
}

async function openHeard(job: SpeechJob, { turn, ...context }: InTurn): Promise<Outputs> {
  const outputs = await openOutputs(job, context);
  turn?.onPause((isPaused) => outputs.sink.pause?.(isPaused));
  return outputs;
}

/** Who speaks, and how the sound is joined. */
function speakingIn(job: SpeechJob, isLive: boolean) {
  const { fallback, patience, mix, output } = job;
  const isHeard = isLive || output.isPlayed;
  return {
    voiceOf: voiceIn(job),
    lead: leadOf(job),
    mix,
    fallback,
    patience: isHeard ? patience : undefined,
  };
}

async function tellEvents(
  { events }: SpeechJob,
  sink: Sink,
  context: Context & { readonly drops: Drops },
): Promise<RunEvents | undefined> {
  if (events === undefined) return undefined;
  return (await import('../run/events.ts')).openEvents(events, sink, context);
}

interface Spoken {
  readonly totals: RunTotals;
  readonly delivery: Delivery | undefined;
  readonly leftOut: { finish(): Promise<TtsError | undefined> } | undefined;
  readonly text: RunText;
  readonly subtitles: Outputs['subtitles'];
}

async function finish(
  job: SpeechJob,
  { totals, delivery, leftOut, text, subtitles }: Spoken,
  context: Context,
): Promise<ExitCode> {
  const { notices, signal } = context;
  if (delivery && !delivery.readerLeft) await subtitles?.publish(signal);
  if (delivery?.failure) throw delivery.failure;
  await report(job, totals, delivery, context);
  if (!delivery?.readerLeft) tellAbsent(job, notices);
  const missing = await sayWhatIsMissing(leftOut, text, notices);
  if (job.json) await (await import('./speak-report.ts')).printSummary(job, totals, delivery, context);
  if (missing) throw missing;
  return job.fallback?.outcome && !delivery?.readerLeft ? ExitCode.partial : ExitCode.ok;
}

function voiceIn({ voice, fallback }: SpeechJob): (segment: Segment) => Voice {
  return (segment) => {
    if (fallback?.speaks(segment)) return fallback.voice;
    return roleIn(segment)?.voice ?? voice;
  };
}

function leadOf({ cast, voice, fallback }: SpeechJob): DeliverOptions['lead'] {
  return (cast ?? fallback) && { voice, sampleRate: voice.sampleRate };
}

async function speakChapters(job: SpeechJob, context: Context): Promise<number> {
  const { notices, signal } = context;
  const totals = new RunTotals();
  await using voices = job.voices;
  const text = await RunText.open(job.text, signal);
  const languageWarning = await checkLanguage(job, text, context);
  const { tagsOf } = await import('../run/tags.ts');
  const leftOut = await leftOutOf(job, voiceIn(job), context);
  const split = {
    text,
    tags: await tagsOf(job.tags, { about: text.about, voice: job.voice }, context),
    voiceOf: voiceIn(job),
    lead: leadOf(job),
    skipping: leftOut,
    totals,
    listeners: [totals, leftOut],
    async begin(progress: Progress | undefined) {
      sayBefore(job, languageWarning, notices);
      await tellNamesBefore(job, text, context);
      voices.listen(await introduced(job, context, eventsTo(totals, progress, notices)));
      return WINDOW * (await openAll(job));
    },
  };
  const status = await (await import('./split.ts')).speakSplit(job, split, context);
  tellAbsent(job, notices);
  const missing = await sayWhatIsMissing(leftOut, text, notices);
  if (missing) throw missing;
  return status;
}

/** What there is to say before anything is paid for. */
function sayBefore(
  { note }: SpeechJob,
  languageWarning: string | undefined,
  notices: Context['notices'],
): void {
  if (note) notices.note(note);
  if (languageWarning !== undefined) notices.warn(languageWarning);
}

async function sayWhatIsMissing(
  leftOut: Spoken['leftOut'],
  { remarks }: RunText,
  notices: Context['notices'],
): Promise<TtsError | undefined> {
  for (const remark of remarks) notices.note(remark);
  return leftOut?.finish();
}

/** A WAV holds none. */
async function tagsFor(job: SpeechJob, { about }: RunText, context: Context): Promise<Tags | undefined> {
  if (job.output.encoding.name === 'wav') return undefined;
  return (await import('../run/tags.ts')).tagsOf(job.tags, { about, voice: job.voice }, context);
}

/** A line of progress would wipe away what a person types, and what is shown of the text. */
function isTerminalShared({ echo }: SpeechJob, { files }: SpeakRequest, { host }: Context): boolean {
  return echo !== undefined || (files.includes('-') && host.stdin.isTTY);
}

/** @returns how many texts all voices together speak at once */
async function openAll({ voices, voice, cast }: SpeechJob): Promise<number> {
  const all = new Set([voice, ...(cast?.all ?? [])]);
  for (const each of all) await voices.open(each);
  return [...all].reduce((sum, { atOnce }) => sum + atOnce, 0);
}
