/** Notes, warnings and summaries of a run of `tts speak`. */
import { ExitCode, TtsError } from '../kit/error.ts';
import { dataFolder } from '../kit/folders.ts';
import type { Host, RunContext } from '../kit/host.ts';
import { bytesInWords, countOf, duration, grouped, printable, withMore } from '../kit/words.ts';
import { isStdout } from '../out/open.ts';
import type { Delivery } from '../out/sink.ts';
import type { Misfit } from '../run/fit.ts';
import type { SpeechJob } from '../run/job.ts';
import type { OutputPlan } from '../run/outputs.ts';
import type { Listener, RunEvent } from '../run/run.ts';
import type { RunText } from '../run/text.ts';
import type { RunTotals } from '../run/totals.ts';
import { secondsOf } from '../sound/pcm.ts';
import { labelOf, rateOf, type VoiceEvent } from '../sound/voice.ts';
import { excerpt } from '../text/unicode.ts';
import type { Cast } from '../voices/cast.ts';
import { type FellBack, fellBackInWords } from '../voices/fallback.ts';
import { installedVoices } from '../voices/install/manifest.ts';
import type { Context } from './commands.ts';
import { isProgressWanted, type Notices } from './notices.ts';
import { LONG_RUN_MS, type Progress, totalOf } from './progress.ts';

export function report(
  { output, callbackUrl }: Pick<SpeechJob, 'output' | 'callbackUrl'>,
  totals: RunTotals,
  delivery: Delivery | undefined,
  { host, notices }: Context,
): void {
  if (delivery?.readerLeft) return;
  const { fromCache, segments, requests } = totals;
  const isWatched = isProgressWanted(host, notices);
  if (!delivery) notices.note(`${unwritten(output)}the service sends the audio to ${callbackUrl}`);
  else if (isWatched || notices.verbose || totals.elapsed > LONG_RUN_MS) {
    const line = closing(output, totals, delivery);
    if (isWatched) notices.print(line);
    else if (notices.verbose) notices.detail(() => line);
    else notices.note(line);
  } else if (fromCache > 0 && requests === 0)
    notices.note('no request was made: everything came from the cache');
  else if (fromCache > 0) notices.note(`${fromCache} of ${segments} segments came from the cache`);
}

/** Says that the output file is not written, because a script may wait for it. */
function unwritten({ name }: OutputPlan): string {
  return name === undefined || isStdout(name) ? '' : `${printable(name)} is not written: `;
}

/** Returns `out.wav  3 min 12 s  22050 Hz  41 segments (12 cached)  in 4.0 s`. */
function closing(output: OutputPlan, totals: RunTotals, { bytes }: Delivery): string {
  const { format, segments, fromCache, elapsed } = totals;
  if (!format) throw new Error('sound was delivered, but no part of it was counted');
  const cached = fromCache > 0 ? ` (${fromCache} cached)` : '';
  const count = `${countOf(segments, 'segment')}${cached}`;
  return `${nameOf(output)}  ${duration(secondsOf(format, bytes))}  ${format.sampleRate} Hz  ${count}  in ${duration(elapsed / 1000)}`;
}

function nameOf({ name, isPlayed }: OutputPlan): string {
  if (name !== undefined && !isStdout(name)) return printable(name);
  return name === undefined && isPlayed ? 'played' : 'stdout';
}

interface Summarized
  extends Pick<SpeechJob, 'output' | 'callbackUrl' | 'subtitles' | 'cast' | 'echo' | 'fallback'> {
  /** The cues that are not heard at their times; only for the sound of a film. */
  readonly misfits: readonly Misfit[] | undefined;
}

/**
 * Prints the summary of `--json`, to stderr if the audio or the text goes to stdout.
 * @param delivery `undefined` if the service sends the sound elsewhere
 */
export function printSummary(
  run: Summarized,
  totals: RunTotals,
  delivery: Delivery | undefined,
  notices: Notices,
): void {
  const { name, isPlayed } = run.output;
  const output = name ?? (isPlayed || !delivery ? null : '-');
  const isWhole = delivery && !delivery.readerLeft;
  const summary = {
    ...(delivery
      ? { output, ...(isPlayed && { played: true }), ...soundData(delivery, totals) }
      : { output: null, callbackUrl: run.callbackUrl, format: null, duration: null, bytes: 0 }),
    ...fallbackOf(run.fallback?.outcome),
    ...(isWhole && run.subtitles && { subtitles: run.subtitles.name }),
    ...(isWhole && run.misfits && { misfits: run.misfits }),
    ...(run.cast && { voices: voicesOf(totals) }),
    characters: totals.characters,
    segments: totals.segments,
    fromCache: totals.fromCache,
    requests: totals.requests,
    retries: totals.retries,
    secondsToFirstAudio: inSeconds(totals.firstAudio),
    seconds: inSeconds(totals.elapsed),
  };
  if (run.echo || (output !== null && isStdout(output))) notices.printJson(summary);
  else notices.result(summary);
}

/** Returns the voices in the order of their first words. The voice of the run has no name in the text: `name: null`. */
function voicesOf({ spoken }: RunTotals): readonly object[] {
  return [...spoken].map(([name, counts]) => ({ name: name ?? null, ...counts }));
}

function soundData({ bytes, writtenBytes, chapters, readerLeft }: Delivery, { format }: RunTotals) {
  return {
    format: format ?? null,
    duration: format ? secondsOf(format, bytes) : 0,
    bytes: writtenBytes,
    ...(chapters && { chapters: chapters.map((chapter) => ({ ...chapter, title: chapter.title ?? null })) }),
    ...(readerLeft && { readerLeft }),
  };
}

function fallbackOf(outcome: FellBack | undefined) {
  if (!outcome) return {};
  const { voice, from, error, broken } = outcome;
  const { message, exitCode } = error;
  const { line = null } = from.place;
  return {
    fallback: { voice, from: from.text, line, error: { message, exitCode }, broken: broken?.text ?? null },
  };
}

function inSeconds(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.round(milliseconds) / 1000;
}

/** Names and words that the user lists for a text. */
type Named = Pick<SpeechJob, 'cast' | 'lexicon'>;

/** Unused lines of the lexicon that are shown at most. */
const MOST_ENTRIES = 20;

/** Names of a text that a warning shows at most. */
const MOST_NAMES = 10;

/** Reads the text once for its names, if it can be read again, and warns of wrong ones before anything is paid for. */
export async function warnOfNamesBefore(
  { cast }: Pick<Named, 'cast'>,
  text: RunText,
  { notices, signal }: Pick<RunContext, 'signal'> & { readonly notices: Notices },
): Promise<void> {
  if (!cast?.hasDialogue || !text.canBeReadAgain) return;
  cast.recount();
  for await (const _ of text.pieces(signal));
  warnOfNames(cast, notices, (name, lines) => `${name} (${lines})`);
}

/** Warns once of names without lines and of lines whose name has no voice: both are likely typos. */
function warnOfNames(cast: Cast, notices: Notices, shown: (name: string, lines: number) => string): void {
  if (cast.hasWarnedOfNames) return;
  cast.hasWarnedOfNames = true;
  const { absent, unlisted } = cast;
  const names = unlisted.slice(0, MOST_NAMES).map(([name, lines]) => shown(name, lines));
  const list = withMore(names, unlisted.length).join(', ');
  const others = list === '' ? '' : `lines of names that are not listed: ${list}`;
  for (const [at, name] of absent.entries()) {
    const found = at === 0 && others !== '' ? `; ${others}` : '';
    notices.warn(`--voices: no line begins with "${name}: "${found}`);
  }
  if (absent.length === 0 && others !== '')
    notices.warn(`--voices: ${others}; they are read out by the voice before them, names included`);
}

/** Reports names and words that no text contains, which are likely typos. */
export function warnOfAbsent({ cast, lexicon }: Named, notices: Notices): void {
  // Leave out the number of lines: the texts of a batch may have been read several times.
  if (cast) warnOfNames(cast, notices, (name) => name);
  const unused = lexicon.filter(({ isUsed }) => !isUsed);
  if (unused.length === 0) return;
  const shown = unused.slice(0, MOST_ENTRIES).map(({ written, place }) => `"${written}" (${place})`);
  const list = withMore(shown, unused.length).join(', ');
  notices.detail(() => `lexicon lines that were never used: ${list}`);
}

/** Tells people what happens in a run: who speaks, what goes wrong, and with `--verbose` each request. */
export class Reporting implements Listener {
  readonly #job: Partial<Pick<SpeechJob, 'speaker' | 'chosen'>>;
  readonly #progress: Progress | undefined;
  readonly #host: Host;
  readonly #notices: Notices;
  readonly #warned = new Set<string>();
  #isIntroduced = false;

  constructor(
    job: Partial<Pick<SpeechJob, 'speaker' | 'chosen'>>,
    progress: Progress | undefined,
    { host, notices }: Pick<Context, 'host' | 'notices'>,
  ) {
    this.#job = job;
    this.#progress = progress;
    this.#host = host;
    this.#notices = notices;
  }

  on(event: RunEvent): void {
    if (event.type === 'voice') this.#tell(event.event);
    if (event.type === 'fallback') this.#notices.warn(fellBackInWords(event.how));
  }

  #tell(event: VoiceEvent): void {
    this.#introduce();
    this.#notices.detail(() => describe(event));
    if (!this.#progress?.isDrawn) warnOfPause(event, this.#notices);
    if (event.type === 'leftover') this.#warnOnce(event.type, `${describe(event)}: words may be missing`);
    if (event.type === 'ignored') this.#warnOnce(event.type, describe(event));
    // src/cli/doubtful.ts lists doubtful sound.
    if (event.type === 'cut' && event.how !== 'doubtful')
      this.#warnOnce(`${event.type} ${event.how}`, describe(event));
  }

  /** Names a default voice at the first event: a run that fails earlier prints only its error. */
  #introduce(): void {
    const { quiet, json } = this.#notices;
    const { speaker, chosen } = this.#job;
    if (!this.#isIntroduced && speaker && !quiet && !json) {
      const text = introduction({ speaker, chosen }, this.#host);
      if (text !== undefined) this.#notices.note(text);
    }
    this.#isIntroduced = true;
  }

  #warnOnce(about: string, text: string): void {
    if (!this.#warned.has(about)) this.#notices.warn(text);
    this.#warned.add(about);
  }
}

/** Some instructions that the built-in voice follows; docs/instructions.md lists all. */
const KNOWN_INSTRUCTIONS = 'slow, fast, deep, high, loud, quiet, whisper, longer pauses';

/** What became of a text whose sound was incomplete, by `how` of the event. */
const CUT = {
  'in parts': 'the text was spoken in smaller parts',
  again: 'the text was spoken again',
  late: 'this was only noticed by the sound of later texts, so words may be missing',
  heard: 'this was only noticed while it was heard',
  doubtful: 'asking again did not help',
} as const;

export function describe(event: VoiceEvent): string {
  switch (event.type) {
    case 'request':
      return `segment ${event.index + 1} ${JSON.stringify(excerpt(event.text))}: ${requestText(event)}`;
    case 'answer': {
      const what = event.status === undefined ? 'sound' : `status ${event.status}`;
      return `segment ${event.index + 1}: ${what} after ${Math.round(event.milliseconds)} ms`;
    }
    case 'cache':
      return `segment ${event.index + 1}: ${event.found === 'hit' ? '' : 'not '}in the cache`;
    case 'retry':
      return `${event.error.message}: another try in ${event.seconds.toFixed(1)} s`;
    case 'leftover':
      return `the service sent ${event.bytes} bytes after the samples of a WAV that are neither sound nor a chunk`;
    case 'ignored':
      return `the voice does not understand "${event.instructions}"; it knows words such as ${KNOWN_INSTRUCTIONS}`;
    case 'cut':
      return `${event.message}; ${CUT[event.how]}`;
    case 'other take':
      return 'on retry the service sent different audio: a word may be repeated or missing; this segment is not cached';
  }
}

function requestText({ by, post }: Extract<VoiceEvent, { type: 'request' }>): string {
  return post ? `POST ${post.url.href}  X-API-KEY: ***  ${post.body}` : `spoken by ${by}`;
}

const LONG_PAUSE_SECONDS = 10;

export function warnOfPause(event: VoiceEvent, notices: Notices): void {
  if (event.type !== 'retry' || event.seconds < LONG_PAUSE_SECONDS || notices.verbose) return;
  notices.warn(`${event.error.message}: another try in ${Math.round(event.seconds)} s`);
}

function introduction(
  { speaker: { voice }, chosen }: Pick<SpeechJob, 'speaker' | 'chosen'>,
  host: Host,
): string | undefined {
  const { kind } = voice.source;
  const label = labelOf(voice);
  if (kind === 'espeak' && typeof chosen === 'number')
    return `${label} speaks; on another machine ${chosen} may be another voice: -s "${label}" is the same one`;
  if (kind !== 'built-in' || chosen !== undefined) return undefined;
  const [there] = installedVoices(dataFolder(host), host.uid);
  return `the built-in English voice speaks; a natural one: ${there ? `-s ${there.name}` : 'tts voices install cori'}`;
}

interface StoppedRun extends Pick<SpeechJob, 'cacheBytes' | 'output'> {
  readonly text: RunText;
  readonly isLive: boolean;
}

/** Adds to the error of an incomplete run where it stopped, and what the next run can take from the cache. */
export async function withStop(
  error: unknown,
  { cacheBytes, output, text, isLive }: StoppedRun,
  signal: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof TtsError)) return error;
  if (signal.aborted) {
    const makesFile = error.exitCode === ExitCode.interrupted && !isLive && !output.isPlayed;
    return makesFile
      ? error.reworded(error.message, { hint: cacheBytes === undefined ? LOST : KEPT })
      : error;
  }
  if (!error.stop || cacheBytes === undefined) return error;
  const total = (await totalOf(text, isLive, signal))?.segments;
  const place = `segment ${grouped(error.stop.done + 1)}${total === undefined ? '' : ` of ${grouped(total)}`}`;
  const reuse = `it stopped at ${place}: the same command reuses what is in the cache`;
  const hint = error.hint === undefined ? reuse : `${error.hint}; ${reuse}`;
  return error.reworded(error.message, { hint, stop: { ...error.stop, total } });
}

const KEPT = 'the same command goes on: complete segments are in the cache';
const LOST =
  'the cache has nothing of this voice, so the same command begins again; --split chapters keeps complete chapters';

const DEFAULT_RATE = 22_050;
const BYTES_PER_SAMPLE = 2;
/** Most of its limit that a cache uses; the rest is room for the next eviction. */
const SHARE_IN_USE = 15 / 16;

/** @param seconds of sound */
export function warnOfRoom(
  { cacheBytes, speaker }: Pick<SpeechJob, 'cacheBytes' | 'speaker'>,
  seconds: number,
  { notices }: Pick<Context, 'notices'>,
): void {
  const rate = rateOf(speaker) ?? DEFAULT_RATE;
  const bytes = seconds * rate * BYTES_PER_SAMPLE;
  if (cacheBytes === undefined || bytes <= cacheBytes * SHARE_IN_USE) return;
  notices.warn(
    `about ${bytesInWords(bytes)} of audio do not fit into the cache of ${bytesInWords(cacheBytes)} (cacheSize in your own config): if the run stops early, a part of it is paid for again`,
  );
}
