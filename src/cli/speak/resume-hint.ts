import { TtsError } from '../../error.ts';
import type { SpeechJob } from '../../speech/job.ts';
import type { RunText } from '../../speech/text.ts';
import { grouped } from '../terminal/style.ts';

/** Adds to an error in the middle of a text where the run stopped, and what the next one need not ask for again. */
export async function withResumeHint(
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
