import { secondsOf } from '../../audio/pcm.ts';
import { isStdout } from '../../sink/open.ts';
import type { Delivery } from '../../sink/sink.ts';
import type { Fallback, FellBack } from '../../speech/asking/fallback.ts';
import type { OutputPlan } from '../../speech/outputs.ts';
import type { RunTotals } from '../../speech/totals.ts';
import type { Voice } from '../../voices/voice.ts';
import type { Notices } from '../terminal/notices.ts';

interface Summarized {
  readonly output: OutputPlan;
  readonly callbackUrl?: string | undefined;
  readonly subtitles?: { readonly name: string } | undefined;
  readonly voice?: Pick<Voice, 'label'>;
  /** It is set for a text that may name voices. */
  readonly cast?: object | undefined;
  /** It is set if the text of the run is shown. */
  readonly echo?: object | undefined;
  readonly fallback?: Pick<Fallback, 'outcome'> | undefined;
}

/**
 * It goes to stderr if the audio or the text goes to stdout.
 * @param delivery `undefined` if the service sends the sound elsewhere
 */
export async function printSummary(
  run: Summarized,
  totals: RunTotals,
  delivery: Delivery | undefined,
  { notices }: { readonly notices: Notices },
): Promise<void> {
  const { name, isPlayed } = run.output;
  const output = name ?? (isPlayed || !delivery ? null : '-');
  const isWhole = delivery && !delivery.readerLeft;
  const summary = {
    ...(delivery
      ? { output, ...(isPlayed && { played: true }), ...soundData(delivery, totals) }
      : { output: null, callbackUrl: run.callbackUrl, format: null, duration: null, bytes: 0 }),
    ...fallbackOf(run.fallback?.outcome),
    ...(isWhole && run.subtitles && { subtitles: run.subtitles.name }),
    ...(run.cast && { voices: voicesOf(run, totals) }),
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

/** Who has spoken, in the order of the first words. A voice without a name in the text is that of the run. */
function voicesOf({ voice }: Summarized, { spoken }: RunTotals): readonly object[] {
  return [...spoken].map(([name, { speaker = voice?.label, ...counts }]) => ({
    name: name ?? null,
    speaker,
    ...counts,
  }));
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
