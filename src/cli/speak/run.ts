import type { Synthesize } from '../../client/client.ts';
import { ExitCode } from '../../error.ts';
import { loadSettings } from '../../settings/load.ts';
import type { Sink } from '../../sink/sink.ts';
import { type ServiceEvent, voiceOf, whileConnected } from '../../speech/connection.ts';
import { deliver } from '../../speech/deliver.ts';
import { assertInputsKept } from '../../speech/inputs-kept.ts';
import { type Order, readText, segmentOptions, type Task } from '../../speech/job.ts';
import type { Part } from '../../speech/look-ahead.ts';
import { type Outputs, openOutputs } from '../../speech/outputs.ts';
import { BUDGET_BYTES } from '../../speech/prefetch.ts';
import { prepareOrder } from '../../speech/prepare-text.ts';
import { chooseService, speakerOf } from '../../speech/service-choice.ts';
import { Tally } from '../../speech/totals.ts';
import type { Context } from '../context.ts';
import { isProgressWanted } from '../terminal/notices.ts';
import type { Progress } from '../terminal/progress.ts';
import { describe, report, warnOfPause } from './report.ts';

/** Parts under way or waiting, for each request that may be open: enough to keep all of them busy behind a slow one. */
const WINDOW = 2;

/** From text to sound: everything that can be known to be wrong is found before a service is asked for anything. */
export async function speak(order: Order, context: Context): Promise<number> {
  const { notices } = context;
  const tally = new Tally();
  const settled = await loadSettings(order, context);
  const { settings: said, files } = settled;
  const prepared = await prepareOrder(order, said, context);
  if (said.showText.value) return (await import('./show-text.ts')).showText(prepared, context);
  assertInputsKept(prepared, settled, context.host);
  const service = await chooseService(said, { ...context, files });
  const { no: speaker, settings, espeak } = await speakerOf(said, service, context);
  const task = { order: prepared, settings, service, espeak, speaker };
  if (settings.dryRun.value) return (await import('./dry-run.ts')).dryRun(task, context);
  const outputs = await openOutputs(settings, context);
  let progress: Progress | undefined;
  try {
    progress = await showProgress(task, outputs.sink, context);
    return await whileConnected(task, context, {
      tell: introducing(task, context, (event) => {
        tally.event(event);
        progress?.count.event(event);
        notices.detail(() => describe(event));
        if (!progress) warnOfPause(event, notices);
      }),
      use: ({ speakAs }) => {
        const synthesize = speakAs(voiceOf(settings, speaker));
        return deliverOrder({ ...task, ...outputs, tally, progress, synthesize }, context);
      },
    });
  } catch (error) {
    await outputs.sink.discard();
    throw error;
  } finally {
    progress?.stop();
    outputs.subtitles?.discard();
  }
}

/** Only for a person, and not for one who types the text: it would wipe away what is being typed. */
async function showProgress(
  { order, settings }: Task,
  { isLive }: Sink,
  { host, notices }: Context,
): Promise<Progress | undefined> {
  const isTyped = order.files.includes('-') && host.stdin.isTTY;
  if (isTyped || !isProgressWanted(host, notices)) return undefined;
  const [{ Progress }, { totalOf }] = await Promise.all([
    import('../terminal/progress.ts'),
    import('../terminal/progress.ts'),
  ]);
  const options = segmentOptions(settings, isLive);
  return new Progress({ host, notices, total: (signal) => totalOf(order, options, host, signal) });
}

/** Tells who speaks as soon as somebody does: a run that fails before has nothing to say but the error. */
function introducing(
  { service, espeak, speaker }: Task,
  { notices }: Context,
  tell: (event: ServiceEvent) => void,
) {
  const voice = espeak?.voices.find((each) => each.speaker.no === speaker)?.speaker.name;
  const who = voice ? `${voice} (${speaker}), a voice of espeak-ng,` : 'the built-in English voice';
  let isTold = service !== undefined;
  return (event: ServiceEvent) => {
    if (!isTold) notices.note(`no base URL is set, so ${who} speaks; --base-url names a service`);
    isTold = true;
    tell(event);
  };
}

interface Job extends Task, Outputs {
  readonly synthesize: Synthesize;
  readonly tally: Tally;
  readonly progress: Progress | undefined;
}

async function deliverOrder(job: Job, { host, notices, signal }: Context): Promise<number> {
  const { order, settings, sink, subtitles, synthesize, tally, progress } = job;
  const delivery = await deliver({
    segments: (until) => readText(order, segmentOptions(settings, sink.isLive), host, until),
    synthesize,
    window: WINDOW * settings.concurrency.value,
    budgetBytes: BUDGET_BYTES,
    paragraphPause: settings.paragraphPause.value,
    sink,
    signal,
    complete: subtitles && (() => subtitles.complete()),
    watch: (part: Part) => {
      const counted = tally.part(part);
      const shown = progress ? progress.count.watch(counted) : counted;
      return subtitles ? subtitles.watch(shown) : shown;
    },
  });
  progress?.stop();
  if (delivery && !delivery.readerLeft) await subtitles?.publish(signal);
  if (delivery?.failure) throw delivery.failure;
  await report(job, delivery, { host, notices });
  if (settings.json.value)
    await (await import('./summary.ts')).tellSummary({ settings, tally, delivery }, { host, notices });
  return ExitCode.ok;
}
