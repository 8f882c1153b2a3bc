import { hostname } from 'node:os';
import { join } from 'node:path';
import { Maker } from '../batch/make.ts';
import {
  batchFile,
  countLeftOver,
  findBatchFiles,
  Journal,
  lockFolder,
  type ManifestEntry,
  type Outcome,
  prepareRowFiles,
  readKnownFiles,
  Survey,
  writeManifest,
} from '../batch/manifest.ts';
import {
  BatchPlan,
  type BatchRow,
  type NamedTable,
  type NameTemplate,
  type PlanOptions,
  type Shard,
  type VoiceCells,
} from '../batch/plan.ts';
import { openRowFolder, type RowFolder, syncFolders } from '../batch/row-files.ts';
import { type ColumnNames, type Field, hasHeader, readTable, type TableKind } from '../batch/table.ts';
import { RowTexts, TextFiles } from '../batch/texts.ts';
import { ExitCode, TtsError } from '../kit/error.ts';
import { makeOutputFolder } from '../kit/folders.ts';
import { countOf, duration, grouped, priceInWords, quoted, visible } from '../kit/words.ts';
import { type Flags, loadSettings, type Settings, settingOf } from '../options/load.ts';
import { rowOf } from '../options/rows.ts';
import { decode } from '../read/decode.ts';
import { abortable, openUnchanged } from '../read/source.ts';
import { bordersOf, castOf, costOf, mixOf, type Pricing, pricingOf } from '../run/job.ts';
import type { Mix } from '../run/mix.ts';
import { encodingsOf } from '../run/outputs.ts';
import { replacementsOf } from '../run/readers.ts';
import { RunTotals } from '../run/totals.ts';
import type { Encoding } from '../sound/encode/encoding.ts';
import type { Speaker } from '../sound/voice.ts';
import { openVoices, type Voices, type Wish } from '../voices/catalogue.ts';
import { chooseService, type Endpoint } from '../voices/service-choice.ts';
import { assertNoFaults, mayPrune, pruneFiles, tellFaults } from './batch-check.ts';
import { BatchOutput } from './batch-output.ts';
import type { Approvals } from './batch-report.ts';
import type { Context } from './commands.ts';
import { Misfits } from './misfits.ts';
import { Estimate } from './preview.ts';
import { type RowProgress, renderRows, showWhile } from './progress.ts';
import { Reporting, tellAbsent } from './speak-report.ts';

/**
 * A cell is as strong as an option.
 * @throws TtsError (usage) with the cell
 */
function wishOf(cells: VoiceCells, where: (field: Field) => string): Wish {
  const said = Object.entries(cells).map(([name, cell]) => {
    const field = name as keyof VoiceCells;
    return [name, settingOf(rowOf(field), cell, { place: 'option', name: where(field) })];
  });
  return Object.fromEntries(said);
}

export interface BatchRequest {
  readonly flags: Flags;
  readonly tables: readonly { readonly name: string; readonly kind: TableKind }[];
  /** What separates the cells of tables with a header; without it, the header tells. */
  readonly delimiter: string | undefined;
  readonly columns: ColumnNames;
  readonly template: NameTemplate;
  readonly shard: Shard | undefined;
  readonly check: boolean;
  readonly prune: boolean;
  /** `--prune` deletes without a question. */
  readonly yes: boolean;
  readonly filesFrom: string | undefined;
  /** Rows without a text are skipped. */
  readonly allowEmpty: boolean;
  readonly maxFailures: number;
  readonly report: string | undefined;
  readonly approved: string | undefined;
}

interface BatchJob {
  readonly tables: readonly NamedTable[];
  readonly planOptions: PlanOptions;
  readonly folder: RowFolder;
  /** The user names it so. */
  readonly folderName: string;
  readonly shard: Shard | undefined;
  readonly allowEmpty: boolean;
  readonly maxFailures: number;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly pricing: Pricing | undefined;
  readonly mix: Mix;
  encodingOf(file: string): Encoding;
  openTexts(): Promise<RowTexts>;
  readonly rowsAtOnce: number;
  readonly voices: Voices;
  /** The service is chosen once, and not by a run without work: that needs no key. */
  chooseService(): Promise<Endpoint | undefined>;
}

/** @throws TtsError (usage) */
async function resolveBatch(request: BatchRequest, context: Context): Promise<BatchJob> {
  const { host } = context;
  const loaded = await loadSettings(request, context);
  const { settings, files } = loaded;
  let chosen: Promise<Endpoint | undefined> | undefined;
  const service = () => {
    chosen ??= chooseService(settings, { ...context, files });
    return chosen;
  };
  const voices = await openVoices({ settings, service }, context);
  const encodingOf = encodingsOf(settings, context);
  const textFiles = new TextFiles(host, loaded, request.filesFrom);
  return {
    tables: request.tables.map((table) => openTable(table, request, context)),
    planOptions: {
      columns: request.columns,
      template: request.template,
      shard: request.shard,
      encode: settings.encode?.value,
      speakerOf: (cells, where) => voices.of(wishOf(cells, where)),
      textFileOf: (cell, table) => textFiles.pathOf(cell, table),
    },
    folder: openRowFolder(request.template.fixedFolder, host.cwd),
    folderName: request.template.fixedFolder,
    shard: request.shard,
    allowEmpty: request.allowEmpty,
    maxFailures: request.maxFailures,
    dryRun: settings.dryRun.value,
    json: settings.json.value,
    pricing: pricingOf(settings),
    mix: mixOf(settings),
    encodingOf,
    openTexts: () => openTexts(settings, { encodingOf, voices }, context),
    rowsAtOnce: 2 * settings.concurrency.value,
    voices,
    chooseService: service,
  };
}

async function openTexts(
  settings: Settings,
  { encodingOf, voices }: Pick<BatchJob, 'encodingOf' | 'voices'>,
  context: Context,
): Promise<RowTexts> {
  return new RowTexts({
    settings,
    ...(await replacementsOf(settings, context)),
    cast: await castOf(settings, voices),
    maxChars: settings.maxChars.value,
    ...bordersOf(settings),
    mix: mixOf(settings),
    host: context.host,
    ownerOf: ownersIn(settings),
    encodedAs: (file) => {
      const { name } = encodingOf(file);
      return name === 'wav' ? undefined : [name, settings.bitrate?.value ?? null];
    },
  });
}

function openTable(
  { name, kind }: BatchRequest['tables'][number],
  request: BatchRequest,
  { host, signal }: Context,
): NamedTable {
  const label = name === '-' ? 'stdin' : name;
  const bytes = name === '-' ? abortable(host.stdin.stream, signal) : openUnchanged(name, host.cwd, signal);
  const rows = readTable(decode(bytes, label), kind, label, request);
  return { name: label, hasHeader: hasHeader(kind), rows };
}

/** Manifests name a service by its base URL. */
function ownersIn({ baseUrl }: Settings): (speaker: Speaker) => string {
  const base = baseUrl?.value.href.replace(/\/$/, '');
  return ({ voice }) => base ?? voice.identity;
}

/** Finds all errors of tables, names and folders before it asks a service. */
export async function batch(request: BatchRequest, context: Context): Promise<number> {
  const job = await resolveBatch(request, context);
  const plan = await BatchPlan.read(job.tables, job.planOptions);
  noteNames(job.planOptions.template, context);
  const approvals = request.approved
    ? await (await import('./batch-report.ts')).Approvals.read(request.approved, context)
    : undefined;
  if (request.check) return await check(job, { plan, approvals }, context);
  if (job.dryRun) return await dryRun(job, plan, context);
  makeOutputFolder(job.folder.path);
  if (request.report !== undefined) {
    const tables = request.tables.map(({ name }) => name);
    const { assertReportPlace } = await import('./batch-report.ts');
    assertReportPlace(request.report, { ...job, plan, tables }, context.host);
  }
  using _lock = lockFolder(job.folder.path, job.shard, context.host, hostname());
  const { known, texts, survey } = await surveyOf(job, plan, context);
  tellAbsent(texts.named, context.notices);
  const outcome = { ...job, plan, known, survey };
  const isPruned = await mayPrune(outcome, request, context);
  const output = new BatchOutput(plan, job.folderName, job.json, context);
  const totals = new RunTotals();
  await output.begin(survey, job.allowEmpty);
  const { fit } = job.mix;
  const misfits = fit && new Misfits(fit, (text) => context.notices.warn(text));
  await make(outcome, { job, texts, output, totals, misfits }, context);
  if (isPruned) await pruneFiles(outcome, context);
  await writeManifest(outcome, context.host, context.signal);
  await output.end();
  if (request.report)
    await (await import('./batch-report.ts')).writeReport(
      request.report,
      { outcome, output, approvals },
      context,
    );
  output.summarise(totals, isPruned ? 0 : countLeftOver(outcome));
  if (output.counts.failed > 0) throw output.partial();
  const misfit = misfits?.error();
  if (misfit) throw misfit;
  return ExitCode.ok;
}

async function surveyOf(job: BatchJob, plan: BatchPlan, { host, signal }: Context) {
  const known = readKnownFiles(job.folder.path, host.uid);
  const texts = await job.openTexts();
  const survey = await Survey.take(plan, known, { folder: job.folder, texts, signal });
  return { known, texts, survey };
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
  readonly misfits: Misfits | undefined;
}

async function make(
  outcome: Outcome,
  { job, texts, output, totals, misfits }: Making,
  context: Context,
): Promise<void> {
  const { survey, folder, shard } = outcome;
  if (survey.toDoCount === 0) return;
  const { signal, host, notices } = context;
  const service = await job.chooseService();
  const folders = prepareRowFiles(outcome, host);
  for (const encoding of encodingsToMake(outcome, job)) await encoding.assertReady();
  await using voices = job.voices;
  if (service) await assertSpeakers(outcome, voices, context);
  if (service?.note) notices.note(service.note);
  using journal = new Journal(join(folder.path, batchFile('journal', shard)), host.uid);
  const progress = progressOf(survey.toDoCount, output);
  using _progress = showWhile((columns) => renderRows(progress(), columns), context);
  const [first] = survey.toDo();
  if (first) await voices.open(first.speaker);
  const maker = new Maker({
    folder,
    mix: job.mix,
    maxFailures: job.maxFailures,
    hasCast: texts.named.cast !== undefined,
    read: (row, until) => texts.read(row, until),
    journal,
    writer: host,
    encodingOf: job.encodingOf,
    rowsAtOnce: job.rowsAtOnce,
    listeners: [totals, new Reporting({}, undefined, context)],
    onMisfit: (row, misfit) => misfits?.add(misfit, row.id),
    onRow: (row, result) => {
      if (result.state === 'made') survey.setMade(row, result.entry);
      output.finish(row, result);
    },
  });
  try {
    await maker.make(survey.toDo(), signal);
    await syncFolders(folders);
  } catch (error) {
    throw withRowsLeft(error, output, survey);
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

function encodingsToMake({ survey }: Outcome, { encodingOf }: BatchJob): ReadonlySet<Encoding> {
  const encodings = new Set<Encoding>();
  for (const { file } of survey.toDo()) encodings.add(encodingOf(file));
  return encodings;
}

function withRowsLeft(error: unknown, { counts, command }: BatchOutput, survey: Survey): unknown {
  if (!(error instanceof TtsError)) return error;
  const left = survey.toDoCount - counts.made;
  return error.reworded(
    `${error.message}; ${countOf(left, 'row is', 'rows are')} left, and what is made is kept: the same command goes on from there (${command})`,
  );
}

/** @throws TtsError (partial) if a file is missing, not up to date, or left over */
async function check(
  job: BatchJob,
  { plan, approvals }: { readonly plan: BatchPlan; readonly approvals: Approvals | undefined },
  context: Context,
): Promise<number> {
  const { known, survey } = await surveyOf(job, plan, context);
  const outcome = { ...job, plan, known, survey };
  const { allowEmpty } = job;
  let unapproved = 0;
  const faultOf = ({ id }: BatchRow, entry: ManifestEntry | undefined) => {
    const fault = entry && approvals?.faultOf({ ...entry, id });
    if (fault) unapproved += 1;
    return fault;
  };
  const faults = await tellFaults(
    outcome,
    { host: context.host, allowEmpty, faultOf },
    (found, file, row) => {
      const out = join(job.folderName, file);
      const [state, why] = found === 'empty' ? ['missing', ', no text'] : [found, ''];
      const where = row ? ` (${row.table}, line ${row.line}, id ${row.id}${why})` : '';
      context.notices.result(
        job.json ? { id: row?.id, state, out } : `${state}: ${visible(`${out}${where}`)}`,
      );
    },
  );
  await fold(outcome, context);
  assertNoFaults(faults, survey, unapproved);
  return ExitCode.ok;
}

/** Merges the manifests of shards. */
async function fold(outcome: Outcome, { host, signal, notices }: Context): Promise<void> {
  const { folder, shard } = outcome;
  if (shard || findBatchFiles(folder.path).parts.length === 0) return;
  try {
    using _lock = lockFolder(folder.path, undefined, host, hostname());
    await writeManifest(outcome, host, signal);
  } catch (error) {
    notices.detail(() => `the manifests of shards were not folded: ${(error as Error).message}`);
  }
}

/** Sends nothing, and needs no key. */
async function dryRun(job: BatchJob, plan: BatchPlan, context: Context): Promise<number> {
  await using _voices = job.voices;
  const { signal, notices } = context;
  const { texts, survey } = await surveyOf(job, plan, context);
  tellAbsent(texts.named, notices);
  const estimate = await estimated(job, { survey, texts }, signal);
  const { missing, stale, damaged, unchanged, empty } = survey.counts;
  const changed = stale + damaged;
  const rows = missing + changed + unchanged + empty;
  const { characters } = survey;
  const { charactersToSend, duration: seconds } = estimate.result;
  const price = job.pricing && costOf(estimate.paidCharacters, job.pricing);
  if (job.json) {
    const counts = { rows, new: missing, changed, unchanged, empty };
    notices.result({ dryRun: true, ...counts, characters, charactersToSend, duration: seconds, ...price });
    return ExitCode.ok;
  }
  const states = `${missing} new, ${changed} changed, ${unchanged} unchanged, ${empty} empty`;
  const sent = `${grouped(characters)} characters, ${grouped(charactersToSend)} to send`;
  const cost = price ? `, price ${priceInWords(price)}` : '';
  const length = `${estimate.isGuessed ? 'about ' : ''}${duration(seconds)} of sound`;
  notices.result(`${countOf(rows, 'row')}: ${states}; ${sent}${cost}; ${length}`);
  return ExitCode.ok;
}

interface Rows {
  readonly survey: Survey;
  readonly texts: RowTexts;
}

async function estimated(
  { mix, voices }: BatchJob,
  { survey, texts }: Rows,
  signal: AbortSignal,
): Promise<Estimate> {
  const estimate = new Estimate(mix);
  for (const row of survey.toDo()) {
    signal.throwIfAborted();
    const { speaker } = row;
    const cache = await voices.cacheFor(speaker);
    const written = cache ? undefined : texts.asWritten(row);
    if (written !== undefined) {
      // Only a cache asks for the single segments, and cutting a million rows takes a minute.
      estimate.addText(written, speaker);
      continue;
    }
    let isFirst = true;
    for await (const segment of texts.read(row, signal).segments) {
      await estimate.add(segment, isFirst, speaker, cache);
      isFirst &&= segment.kind === 'rest';
    }
  }
  return estimate;
}
