import { ExitCode, TtsError } from '../../error.ts';
import type { SpeechJob } from '../../speech/job.ts';
import type { RunText } from '../../speech/text.ts';
import type { Segment } from '../../text/segment.ts';
import type { Voice } from '../../voices/voice.ts';
import { grouped } from '../terminal/style.ts';

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
  const { totalOf } = await import('../terminal/progress.ts');
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
