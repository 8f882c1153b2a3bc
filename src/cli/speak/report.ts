import { secondsOf } from '../../audio/pcm.ts';
import { TtsError } from '../../error.ts';
import { dataFolder } from '../../files/folders.ts';
import type { Host } from '../../host.ts';
import { installedVoices } from '../../installed/manifest.ts';
import { printable } from '../../printable.ts';
import { isStdout } from '../../sink/open.ts';
import type { Delivery } from '../../sink/sink.ts';
import type { RunPlan, SpeechJob } from '../../speech/job.ts';
import type { OutputPlan } from '../../speech/outputs.ts';
import type { RunText } from '../../speech/text.ts';
import type { RunTotals } from '../../speech/totals.ts';
import { excerpt } from '../../text/unicode.ts';
import type { VoiceEvent } from '../../voices/voice.ts';
import type { Context } from '../context.ts';
import { isProgressWanted, type Notices } from '../terminal/notices.ts';
import type { Progress } from '../terminal/progress.ts';
import { LONG_RUN_MS } from '../terminal/progress-notes.ts';
import { grouped } from '../terminal/style.ts';
import { isNewToday } from './daily-note.ts';

type Reported = Pick<RunPlan, 'output'> & Partial<Pick<RunPlan, 'callbackUrl'>>;

export async function report(
  { output, callbackUrl }: Reported,
  totals: RunTotals,
  delivery: Delivery | undefined,
  { host, notices }: { readonly host: Pick<Host, 'env' | 'stderr'>; readonly notices: Notices },
): Promise<void> {
  if (delivery?.readerLeft) return;
  const { fromCache, segments, requests } = totals;
  const isWatched = isProgressWanted(host, notices);
  if (!delivery) notices.note(`the service sends the audio to ${callbackUrl}`);
  else if (isWatched || notices.verbose || totals.elapsed > LONG_RUN_MS) {
    const line = await closing(output, totals, delivery);
    if (isWatched) notices.print(line);
    else if (notices.verbose) notices.detail(() => line);
    else notices.note(line);
  } else if (fromCache > 0 && requests === 0)
    notices.note('no request was made: everything came from the cache');
  else if (fromCache > 0) notices.note(`${fromCache} of ${segments} segments came from the cache`);
}

export function eventsTo(
  totals: RunTotals,
  progress: Progress | undefined,
  notices: Notices,
): (event: VoiceEvent) => void {
  const warned = new Set<string>();
  const warnOnce = (about: string, text: string) => {
    if (!warned.has(about)) notices.warn(text);
    warned.add(about);
  };
  return (event) => {
    totals.onEvent(event);
    progress?.count.onEvent(event);
    notices.detail(() => describe(event));
    if (!progress) warnOfPause(event, notices);
    if (event.type === 'leftover') warnOnce(event.type, `${describe(event)}: words may be missing`);
    if (event.type === 'ignored') warnOnce(event.type, describe(event));
    if (event.type === 'cut') warnOnce(`${event.type} ${event.isMended}`, describe(event));
  };
}

/** Waits for the first event: a run that fails before prints only its error. */
export function introducing(
  { voice: { kind, label, shape }, isNumbered }: SpeechJob,
  { host, notices }: Pick<Context, 'host' | 'notices'>,
  onEvent: (event: VoiceEvent) => void,
): (event: VoiceEvent) => void {
  const isEspeak = kind === 'espeak';
  const who = isEspeak ? `${label} (${shape.speaker}), a voice of espeak-ng,` : 'the built-in English voice';
  let isIntroduced = kind === 'service' || kind === 'engine';
  return (event) => {
    if (!isIntroduced && !notices.quiet && !notices.json) {
      const better = isEspeak ? '' : betterVoice(host);
      const note = `no base URL is set, so ${who} speaks; --base-url names a service${better}`;
      if (isNewToday(note, host)) notices.note(note);
    }
    if (!isIntroduced && isEspeak && isNumbered)
      notices.note(`on another machine ${shape.speaker} may be another voice; -s "${label}" is the same one`);
    isIntroduced = true;
    onEvent(event);
  };
}

/** The line that brings a natural voice, where there is none. */
function betterVoice(host: Host): string {
  const isThere = installedVoices(dataFolder(host), host.uid).length > 0;
  return isThere ? '' : '; a natural voice: tts voices install cori';
}

/** docs/instructions.md has all of the built-in voice. */
const KNOWN_INSTRUCTIONS = 'slow, fast, deep, high, loud, quiet, whisper, longer pauses';

export async function withKept(
  error: unknown,
  {
    cacheBytes,
    text,
    isLive,
  }: Pick<SpeechJob, 'cacheBytes'> & { readonly text: RunText; readonly isLive: boolean },
  signal: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof TtsError) || !error.stop || cacheBytes === undefined || signal.aborted) return error;
  const { totalOf } = await import('../terminal/progress.ts');
  const total = (await totalOf(text, isLive, signal))?.segments;
  const of = total === undefined ? '' : ` of ${grouped(total)}`;
  const place = `segment ${grouped(error.stop.done + 1)}${of}`;
  const reuse = `it stopped at ${place}: the same command reuses what is in the cache`;
  const hint = error.hint === undefined ? reuse : `${error.hint}; ${reuse}`;
  return error.reworded(error.message, { hint, stop: { ...error.stop, total } });
}

const NOTICED_LATE = 'this was only noticed by the sound of later texts, so words may be missing';

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
      return `${event.message}; ${event.isMended ? 'the text was spoken in smaller parts' : NOTICED_LATE}`;
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

async function closing(output: OutputPlan, totals: RunTotals, delivery: Delivery): Promise<string> {
  const { closingLine } = await import('../terminal/progress-line.ts');
  const { format, segments, fromCache, elapsed } = totals;
  if (!format) throw new Error('sound was delivered, but no part of it was counted');
  return closingLine({
    name: nameOf(output),
    audioSeconds: secondsOf(format, delivery.bytes),
    sampleRate: format.sampleRate,
    segments,
    fromCache,
    seconds: elapsed / 1000,
  });
}

function nameOf({ name, isPlayed }: OutputPlan): string {
  if (name !== undefined && !isStdout(name)) return printable(name);
  return name === undefined && isPlayed ? 'played' : 'stdout';
}
