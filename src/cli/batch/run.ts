import { hostname } from 'node:os';
import { join } from 'node:path';
import { countLeftOver, type Outcome, writeManifest } from '../../batch/closing.ts';
import { lockFolder } from '../../batch/lock.ts';
import { Maker } from '../../batch/make.ts';
import { Journal, journalName } from '../../batch/manifest.ts';
import { BatchPlan } from '../../batch/plan.ts';
import { prepareRowFiles, syncFolders } from '../../batch/row-file.ts';
import { KnownFiles, Survey } from '../../batch/survey.ts';
import type { NameTemplate } from '../../batch/template.ts';
import { ExitCode, TtsError } from '../../error.ts';
import { makeOutputFolder } from '../../files/folders.ts';
import { quoted } from '../../printable.ts';
import type { Encoding } from '../../sink/encoding/encoding.ts';
import { RunTotals } from '../../speech/totals.ts';
import type { Voices } from '../../voices/voice.ts';
import type { Context } from '../context.ts';
import { mayPrune, pruneFiles } from '../pruning.ts';
import { tellAbsent } from '../speak/notes.ts';
import { eventsTo } from '../speak/voice-events.ts';
import { isProgressWanted } from '../terminal/notices.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { type RowProgress, renderRows } from '../terminal/progress-line.ts';
import { notesFor } from '../terminal/progress-notes.ts';
import { countOf } from '../terminal/style.ts';
import { type BatchJob, type BatchRequest, resolveBatch } from './job.ts';
import { BatchOutput } from './output.ts';
import type { RowTexts } from './row-text.ts';

/** Finds all errors of tables, names and folders before it asks a service. */
export async function batch(request: BatchRequest, context: Context): Promise<number> {
  const job = await resolveBatch(request, context);
  using plan = await BatchPlan.read(job.tables, job.planOptions);
  noteNames(job.planOptions.template, context);
  using approvals = request.approved
    ? await (await import('./approvals.ts')).Approvals.read(request.approved, context)
    : undefined;
  if (request.check) return await (await import('./check.ts')).check(job, { plan, approvals }, context);
  if (job.dryRun) return await (await import('./dry-run.ts')).dryRun(job, plan, context);
  makeOutputFolder(job.folder.path);
  if (request.report !== undefined) {
    const tables = request.tables.map(({ name }) => name);
    const { assertReportPlace } = await import('./report.ts');
    assertReportPlace(request.report, { ...job, plan, tables }, context.host);
  }
  using _lock = lockFolder(job.folder.path, job.shard, context.host, hostname());
  using known = new KnownFiles(job.folder.path, context.host.uid);
  const texts = await job.openTexts();
  const { signal } = context;
  const survey = await Survey.take(plan, known, { folder: job.folder, texts, signal });
  tellAbsent(texts.named, context.notices);
  const outcome = { ...job, plan, known, survey };
  const isPruned = await mayPrune(outcome, request, context);
  const output = new BatchOutput(plan, job.folderName, job.json, context);
  const totals = new RunTotals();
  await output.begin(survey, job.allowEmpty);
  await make(outcome, { job, texts, output, totals }, context);
  if (isPruned) await pruneFiles(outcome, context);
  await writeManifest(outcome, context.host, signal);
  await output.end();
  if (request.report)
    await (await import('./report.ts')).writeReport(request.report, { outcome, output, approvals }, context);
  output.summarise(totals, isPruned ? 0 : countLeftOver(outcome));
  if (output.counts.failed > 0) throw output.partial();
  return ExitCode.ok;
}

function noteNames({ changed: { count, first } }: NameTemplate, { notices }: Context): void {
  if (!first) return;
  const [value, name] = first;
  const others = count > 1 ? `, and ${count - 1} more are changed in the same way` : '';
  notices.note(`in the names of files ${quoted(value)} becomes ${quoted(name)}${others}`);
}

interface Making {
  readonly job: BatchJob;
  readonly texts: RowTexts;
  readonly output: BatchOutput;
  readonly totals: RunTotals;
}

async function make(
  outcome: Outcome,
  { job, texts, output, totals }: Making,
  context: Context,
): Promise<void> {
  const { plan, known, survey, folder, shard } = outcome;
  if (survey.toDoCount === 0) return;
  const { signal, host, notices } = context;
  const service = await job.chooseService();
  const folders = prepareRowFiles(outcome, host);
  for (const encoding of encodingsToMake(outcome, job)) await encoding.assertReady();
  await using voices = job.voices;
  if (service) await assertSpeakers(outcome, voices, context);
  if (service?.note) notices.note(service.note);
  using journal = new Journal(join(folder.path, journalName(shard)), host.uid);
  const progress = progressOf(survey.toDoCount, output);
  using _progress = await showProgress(progress, context);
  using _notes = notesFor(context, async () => renderRows(progress(), Number.POSITIVE_INFINITY));
  voices.listen(eventsTo(totals, undefined, notices));
  const [first = 0] = survey.toDo();
  await voices.open(voices.as(plan.rows.at(first).voice));
  const maker = new Maker((number) => plan.rows.at(number), {
    folder,
    mix: job.mix,
    maxFailures: job.maxFailures,
    hasCast: texts.named.cast !== undefined,
    read: (row, voice, until) => texts.read(row, voice, until),
    journal,
    writer: host,
    encodingOf: job.encodingOf,
    rowsAtOnce: job.rowsAtOnce,
    voiceOf: (shape) => voices.as(shape),
    listeners: [totals],
    onRow: (number, result) => {
      if (result.state === 'made') survey.setMade(number, known.entries.add(result.entry));
      output.finish(number, result);
    },
  });
  try {
    await maker.make(survey.toDo(), signal);
    await syncFolders(folders);
  } catch (error) {
    throw withRest(error, output, survey);
  }
}

/** A service without a list may take any number. */
async function assertSpeakers(
  { plan, survey }: Outcome,
  voices: Voices,
  { notices, signal }: Context,
): Promise<void> {
  const list = await voices.list({ retries: 0 }).catch((error) => {
    signal.throwIfAborted();
    notices.detail(() => `speakers are not checked: ${error.message}`);
    return undefined;
  });
  if (!list || list.length === 0) return;
  const known = new Set(list.map(({ no }) => no));
  plan.assertSpeakers(survey.toDo(), (speaker) => known.has(speaker));
}

function progressOf(total: number, { counts }: BatchOutput): () => RowProgress {
  const begun = performance.now();
  // Rows without a text have failed before.
  const before = counts.failed;
  return () => {
    const { made } = counts;
    const failed = counts.failed - before;
    return { done: made + failed, failed, total, seconds: (performance.now() - begun) / 1000 };
  };
}

async function showProgress(
  progress: () => RowProgress,
  { host, notices }: Context,
): Promise<ProgressLine | undefined> {
  if (!isProgressWanted(host, notices)) return undefined;
  const { ProgressLine } = await import('../terminal/progress.ts');
  return new ProgressLine({ host, notices }, (columns) => renderRows(progress(), columns));
}

function encodingsToMake({ plan, survey }: Outcome, { encodingOf }: BatchJob): ReadonlySet<Encoding> {
  const encodings = new Set<Encoding>();
  for (const number of survey.toDo()) encodings.add(encodingOf(plan.rows.at(number).file));
  return encodings;
}

function withRest(error: unknown, { counts, command }: BatchOutput, survey: Survey): unknown {
  if (!(error instanceof TtsError)) return error;
  const left = survey.toDoCount - counts.made;
  return error.reworded(
    `${error.message}; ${countOf(left, 'row is', 'rows are')} left, and what is made is kept: the same command goes on from there (${command})`,
  );
}
