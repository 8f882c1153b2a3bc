import { secondsOf } from '../../audio/pcm.ts';
import type { Host } from '../../host.ts';
import { printable } from '../../printable.ts';
import { isStdout } from '../../sink/open.ts';
import type { Delivery } from '../../sink/sink.ts';
import type { RunPlan } from '../../speech/job.ts';
import type { OutputPlan } from '../../speech/outputs.ts';
import type { RunTotals } from '../../speech/totals.ts';
import { isProgressWanted, type Notices } from '../terminal/notices.ts';
import { LONG_RUN_MS } from '../terminal/progress-notes.ts';

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
  if (!delivery) notices.note(`${unwritten(output)}the service sends the audio to ${callbackUrl}`);
  else if (isWatched || notices.verbose || totals.elapsed > LONG_RUN_MS) {
    const line = await closing(output, totals, delivery);
    if (isWatched) notices.print(line);
    else if (notices.verbose) notices.detail(() => line);
    else notices.note(line);
  } else if (fromCache > 0 && requests === 0)
    notices.note('no request was made: everything came from the cache');
  else if (fromCache > 0) notices.note(`${fromCache} of ${segments} segments came from the cache`);
}

/** A script may wait for the file. */
function unwritten({ name }: OutputPlan): string {
  return name === undefined || isStdout(name) ? '' : `${printable(name)} is not written: `;
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
