import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExitCode, TtsError } from '../kit/error.ts';
import { readOwn } from '../kit/file.ts';
import { dataFolder, makeFolder, ownCacheFolder } from '../kit/folders.ts';
import type { Host } from '../kit/host.ts';
import { ageOf } from '../kit/words.ts';
import type { SpeechJob } from '../run/job.ts';
import type { RunText } from '../run/text.ts';
import type { Segment } from '../text/segment.ts';
import { installedVoices } from '../voices/install/manifest.ts';
import type { Voice, VoiceEvent } from '../voices/voice.ts';
import type { Context } from './context.ts';
import { grouped } from './style.ts';

const DAY_MS = 86_400_000;

/**
 * Remembers the text for a day.
 * @returns false if it was shown within the last day. Without a place to remember that, it is shown each time.
 */
export function isNewToday(text: string, host: Pick<Host, 'env' | 'home' | 'platform' | 'uid'>): boolean {
  const folder = ownCacheFolder(host);
  if (folder === undefined) return true;
  const path = join(folder, 'told');
  try {
    if (readOwn(path, host.uid) === text && ageOf(statSync(path).mtimeMs) < DAY_MS) return false;
  } catch {}
  try {
    makeFolder(folder);
    rmSync(path, { force: true });
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch {}
  return true;
}

/** Waits for the first event: a run that fails before prints only its error. */
export function introducing(
  { voice: { kind, label, shape }, isNumbered }: SpeechJob,
  { host, notices }: Pick<Context, 'host' | 'notices'>,
  onEvent: (event: VoiceEvent) => void,
): (event: VoiceEvent) => void {
  const isEspeak = kind === 'espeak';
  const who = isEspeak ? `${label} (${shape.speaker}), a voice of espeak-ng,` : 'the built-in English voice';
  let isIntroduced = false;
  return (event) => {
    if (!isIntroduced && !notices.json) {
      const note = `${who} speaks${isEspeak ? '' : betterVoice(host)}`;
      if (isNewToday(note, host)) notices.note(note);
    }
    if (!isIntroduced && isEspeak && isNumbered)
      notices.note(`on another machine ${shape.speaker} may be another voice; -s "${label}" is the same one`);
    isIntroduced = true;
    onEvent(event);
  };
}

/** How to get a natural voice: the command, or the voice that is there. */
function betterVoice(host: Host): string {
  const [there] = installedVoices(dataFolder(host), host.uid);
  return `; a natural one: ${there ? `-s ${there.name}` : 'tts voices install cori'}`;
}

interface Stopped extends Interrupted, Pick<SpeechJob, 'cacheBytes' | 'output'> {
  readonly isLive: boolean;
}

/** Says what is kept, where a run does not get to its end. */
export async function explainStop(error: unknown, how: Stopped, signal: AbortSignal): Promise<unknown> {
  if (!signal.aborted) return withResumeHint(error, how, signal);
  return how.isLive || how.output.isPlayed ? error : withKept(error, how);
}

/** Adds to an error in the middle of a text where the run stopped, and what the next one need not ask for again. */
async function withResumeHint(
  error: unknown,
  {
    cacheBytes,
    text,
    isLive,
  }: Pick<SpeechJob, 'cacheBytes'> & { readonly text: RunText; readonly isLive: boolean },
  signal: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof TtsError) || !error.stop || cacheBytes === undefined) return error;
  const { totalOf } = await import('./progress.ts');
  const total = (await totalOf(text, isLive, signal))?.segments;
  const of = total === undefined ? '' : ` of ${grouped(total)}`;
  const place = `segment ${grouped(error.stop.done + 1)}${of}`;
  const reuse = `it stopped at ${place}: the same command reuses what is in the cache`;
  const hint = error.hint === undefined ? reuse : `${error.hint}; ${reuse}`;
  return error.reworded(error.message, { hint, stop: { ...error.stop, total } });
}

/** Bytes of text. What is kept of a longer one is not counted, since the run is to end at once. */
const LARGEST_COUNTED = 256 * 1024;

interface Interrupted {
  readonly text: RunText;
  readonly voices: SpeechJob['voices'];
  readonly voiceOf: (segment: Segment) => Voice;
}

/** Says what is kept of a text whose sound goes into a file, and how it goes on. */
async function withKept(error: unknown, { text, voices, voiceOf }: Interrupted): Promise<unknown> {
  const isInterrupted = error instanceof TtsError && error.exitCode === ExitCode.interrupted;
  if (!isInterrupted || !text.canBeReadAgain || text.knownSize > LARGEST_COUNTED) return error;
  let [all, kept, isKept, hasChapters] = [0, 0, false, false];
  try {
    for await (const segment of text.segments(false, new AbortController().signal)) {
      if (segment.kind === 'rest') continue;
      const voice = voiceOf(segment);
      const cache = await voices.keptFor(voice);
      isKept ||= cache !== undefined;
      all += 1;
      hasChapters ||= segment.chapter !== undefined;
      if (cache?.mayHave({ shape: voice.shape, text: segment.text, written: segment.written })) kept += 1;
    }
  } catch {
    return error;
  }
  if (all < 2) return error;
  return isKept
    ? error.reworded(`interrupted; ${grouped(kept)} of ${grouped(all)} segments are kept`, {
        hint: 'the same command goes on with the others',
      })
    : error.reworded('interrupted; nothing is kept', {
        hint: hasChapters
          ? 'what this voice speaks is not kept; --split chapters keeps each chapter that is finished'
          : 'what this voice speaks is not kept; a service, an engine or an installed voice goes on where it stopped',
      });
}

const DEFAULT_RATE = 22_050;
const BYTES_PER_SAMPLE = 2;
/** A cache uses this share of its limit at most; the rest is room for an eviction. */
const SHARE_IN_USE = 15 / 16;
const GIB = 2 ** 30;

type Room = Pick<SpeechJob, 'cacheBytes' | 'voice'>;

/** @param seconds of sound */
export function warnOfRoom(
  { cacheBytes, voice }: Room,
  seconds: number,
  { notices }: Pick<Context, 'notices'>,
): void {
  if (cacheBytes === undefined) return;
  const rate = voice.shape.sampleRate ?? DEFAULT_RATE;
  const bytes = seconds * rate * BYTES_PER_SAMPLE;
  if (bytes <= cacheBytes * SHARE_IN_USE) return;
  const enough = Math.ceil((2 * bytes) / SHARE_IN_USE / GIB) / 2;
  notices.warn(
    `about ${inGiB(bytes)} of audio do not fit into the cache of ${inGiB(cacheBytes)}: after an early end, a part is paid for again; cacheSize: ${enough}GB in your own config holds it`,
  );
}

function inGiB(bytes: number): string {
  const size = bytes / GIB;
  return size < 0.1 ? `${Math.ceil(bytes / 2 ** 20)} MiB` : `${size.toFixed(1)} GiB`;
}
