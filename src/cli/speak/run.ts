import { ExitCode } from '../../error.ts';
import type { Host } from '../../host.ts';
import { openClient, openService } from '../../speech/connection.ts';
import { deliver } from '../../speech/deliver.ts';
import { readText, resolveJob, type SpeakRequest, type SpeechJob } from '../../speech/job.ts';
import { type Outputs, openOutputs } from '../../speech/outputs.ts';
import { RunTotals } from '../../speech/totals.ts';
import type { Context } from '../context.ts';
import { isProgressWanted } from '../terminal/notices.ts';
import type { Progress } from '../terminal/progress.ts';
import { sizeOf, warnOfRoom } from './cache-room.ts';
import { leftOutOf } from './left-out.ts';
import { isOffTerminal, ProgressNotes } from './notes.ts';
import { eventsTo, introducing, report, withKept } from './report.ts';

/** For each open request: all stay busy behind a slow one. */
const WINDOW = 2;

/** Nothing is sent before everything is checked and open. */
export async function speak(request: SpeakRequest, context: Context): Promise<number> {
  const { host, notices, signal } = context;
  const totals = new RunTotals();
  const resolved = await resolveJob(request, context);
  if (resolved.mode === 'show-text') return (await import('./show-text.ts')).showText(resolved.text, context);
  if (resolved.mode === 'dry-run') return (await import('./dry-run.ts')).dryRun(resolved, context);
  const { job } = resolved;

  await using outputs = await openOutputs(job, context);
  const { sink, subtitles } = outputs;
  using progress = await showProgress(job, outputs, context);
  using _notes = isOffTerminal(context)
    ? new ProgressNotes({ notices, totals, total: (until) => totalSegments(job, outputs, host, until) })
    : undefined;
  if (job.service?.note) notices.note(job.service.note);
  warnOfRoom(job, sizeOf(job, host), context);
  await using service = await openService(job, context);
  const onEvent = introducing(job, notices, eventsTo(totals, progress, notices));
  await using client = await openClient(job, service, { ...context, onEvent });

  const leftOut = await leftOutOf(job, (text) => notices.warn(text));
  const delivery = await deliver({
    segments: (until) => readText(job.text, sink.isLive, host, until),
    synthesize: client.speakWith(job.fields),
    window: WINDOW * job.limits.concurrency,
    paragraphPause: job.paragraphPause,
    sink,
    signal,
    sparing: leftOut,
    listeners: [totals, progress?.count, subtitles, leftOut],
  }).catch(async (error) => {
    throw await withKept(error, job, sink.isLive, context);
  });
  progress?.stop();
  if (delivery && !delivery.readerLeft) await subtitles?.publish(signal);
  if (delivery?.failure) throw delivery.failure;

  await report(job, totals, delivery, context);
  leftOut?.finish();
  if (job.json) await (await import('./summary.ts')).printSummary(job, totals, delivery, context);
  return ExitCode.ok;
}

/** The line would wipe away what a person types. */
async function showProgress(
  job: SpeechJob,
  outputs: Outputs,
  { host, notices }: Context,
): Promise<Progress | undefined> {
  const isTyped = job.text.files.includes('-') && host.stdin.isTTY;
  if (isTyped || !isProgressWanted(host, notices)) return undefined;
  const { Progress } = await import('../terminal/progress.ts');
  return new Progress({ host, notices, total: (until) => totalSegments(job, outputs, host, until) });
}

async function totalSegments({ text }: SpeechJob, { sink }: Outputs, host: Host, signal: AbortSignal) {
  const { totalOf } = await import('../terminal/progress.ts');
  return totalOf(text, sink.isLive, host, signal);
}
