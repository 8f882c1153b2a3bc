import { join } from 'node:path';
import { RowMaker } from '../batch/make.ts';
import {
  batchFile,
  countLeftOver,
  type FolderPlan,
  findBatchFiles,
  Journal,
  lockFolder,
  type ManifestEntry,
  prepareRowFiles,
  RowStates,
  writeManifest,
} from '../batch/manifest.ts';
import {
  BatchPlan,
  type BatchRow,
  type NamedTable,
  type NameTemplate,
  placeOf,
  type VoiceCells,
} from '../batch/plan.ts';
import { openRowFolder, syncFolders } from '../batch/row-files.ts';
import { type Field, hasHeader, readTable } from '../batch/table.ts';
import { RowTexts, TextFiles } from '../batch/texts.ts';
import { ExitCode, TtsError } from '../kit/error.ts';
import { countOf, duration, grouped, priceInWords, quoted, visible } from '../kit/words.ts';
import { type Settings, settingOf } from '../options/load.ts';
import { rowOf } from '../options/rows.ts';
import { decode } from '../read/decode.ts';
import { abortable, openUnchanged } from '../read/source.ts';
import { bordersOf, castOf, costOf, mixOf, pricingOf } from '../run/job.ts';
import type { Mix } from '../run/mix.ts';
import { encodingsOf } from '../run/outputs.ts';
import { stagesOf } from '../run/readers.ts';
import type { Listener } from '../run/run.ts';
import { RunTotals } from '../run/totals.ts';
import type { Encoding } from '../sound/encode/encoding.ts';
import type { Speaker } from '../sound/voice.ts';
import { chooseService, type Endpoint } from '../voices/service-choice.ts';
import { openVoices, type VoiceRequest, type Voices } from '../voices/voices.ts';
import { type BatchRequest, readBatch } from './batch-command.ts';
import { assertNoFaults, reportFaults, updateFolder } from './batch-folder.ts';
import { BatchOutput, rowInWords } from './batch-output.ts';
import type { Approvals } from './batch-report.ts';
import type { CommandLine, Context } from './commands.ts';
import { DoubtfulSound } from './doubtful.ts';
import { Misfits } from './misfits.ts';
import { unreadInRows } from './missing-text.ts';
import { Estimate } from './preview.ts';
import { type RowProgress, renderRows, showWhile } from './progress.ts';
import { Reporting, warnOfAbsent } from './speak-report.ts';

export async function run(line: CommandLine, context: Context): Promise<number> {
  const job = await planBatch(await readBatch(line, context), context);
  const { approved, report, check: isCheck, dryRun: isDry } = job.settings;
  const reports = approved || report ? await import('./batch-report.ts') : undefined;
  const approvals = approved && (await reports?.Approvals.read(approved.value, context));
  if (isCheck.value) return await check(job, approvals, context);
  if (isDry.value) return await dryRun(job, context);
  const { settings, mix, texts, tables } = job;
  const { prune, yes, allowEmpty, json } = settings;
  const output = new BatchOutput(job.plan, job.folder.name, json.value, context);
  const totals = new RunTotals();
  const misfits = mix.fit && new Misfits(mix.fit, context.notices);
  const doubtful = new DoubtfulSound(context.notices);
  const write = async (states: RowStates) => {
    const names = tables.map(({ name }) => name);
    if (report) reports?.assertReportPlace(report.value, { ...job, tables: names }, context.host);
    warnOfAbsent(texts.named, context.notices);
    await output.begin(states, allowEmpty.value);
    const reported = async () => {
      if (report) await reports?.writeReport(report.value, { states, output, approvals }, context);
    };
    await make(states, { job, output, totals, misfits, doubtful }, context).catch(async (error) => {
      // What ended the run counts more than a report that cannot be written.
      await reported().catch(() => {});
      throw error;
    });
    await output.end();
    await reported();
  };
  const consent = { prune: prune.value, yes: yes.value };
  const { states, isPruned } = await updateFolder(job, consent, write, context);
  output.summarise(totals, isPruned ? 0 : countLeftOver(states));
  if (output.counts.failed > 0) throw output.partial();
  const misfit = misfits?.error() ?? doubtful.error();
  if (misfit) throw misfit;
  return ExitCode.ok;
}

interface BatchJob extends BatchRequest, FolderPlan {
  readonly texts: RowTexts;
  readonly mix: Mix;
  encodingOf(file: string): Encoding;
  readonly voices: Voices;
  /** Chooses the service at the first call, which a run without work never makes: that run needs no key. */
  chooseService(): Promise<Endpoint | undefined>;
}

/**
 * Finds all errors of tables, names and folders before a service is asked.
 * @throws TtsError (usage)
 */
async function planBatch(request: BatchRequest, context: Context): Promise<BatchJob> {
  const { host } = context;
  const { settings, files, template, columns, shard } = request;
  let chosen: Promise<Endpoint | undefined> | undefined;
  const service = () => {
    chosen ??= chooseService(settings, { ...context, files });
    return chosen;
  };
  const voices = await openVoices({ settings, service }, context);
  const encodingOf = encodingsOf(settings, context);
  const textFiles = new TextFiles(host, request, settings.filesFrom?.value);
  const tables = request.tables.map((table) => openTable(table, request, context));
  const folder = openRowFolder(template.fixedFolder, host);
  const plan = await BatchPlan.read(tables, {
    columns,
    template,
    shard,
    encode: settings.encode?.value,
    speakerOf: (cells, where) => voices.of(voiceRequestOf(cells, where)),
    textFileOf: (cell, table) => textFiles.pathOf(cell, table),
  });
  noteNames(template, context);
  const mix = mixOf(settings);
  const texts = new RowTexts({
    settings,
    ...(await stagesOf(settings, context)),
    cast: await castOf(settings, voices),
    maxChars: settings.maxChars.value,
    ...bordersOf(settings),
    mix,
    host,
    ownerOf: ownersIn(settings),
    encodedAs: (file) => {
      const { name } = encodingOf(file);
      return name === 'wav' ? undefined : [name, settings.bitrate?.value ?? null];
    },
  });
  return { ...request, folder, plan, texts, mix, encodingOf, voices, chooseService: service };
}

/**
 * Turns the cells of a row into settings that override others as options do.
 * @throws TtsError (usage) that names the cell
 */
function voiceRequestOf(cells: VoiceCells, where: (field: Field) => string): VoiceRequest {
  const settings = Object.entries(cells).map(([name, cell]) => {
    const field = name as keyof VoiceCells;
    return [name, settingOf(rowOf(field), cell, { place: 'option', name: where(field) })];
  });
  return Object.fromEntries(settings);
}

function openTable(
  { name, kind }: BatchRequest['tables'][number],
  { columns, settings }: BatchRequest,
  { host, signal }: Context,
): NamedTable {
  const label = name === '-' ? 'stdin' : name;
  const bytes = name === '-' ? abortable(host.stdin.stream, signal) : openUnchanged(name, host.cwd, signal);
  const options = { columns, delimiter: settings.delimiter?.value };
  return {
    name: label,
    hasHeader: hasHeader(kind),
    rows: readTable(decode(bytes, label), kind, label, options),
  };
}

/** Returns the owner of a sound as manifests name it: the base URL of a service, or the identity of the voice. */
function ownersIn({ baseUrl }: Settings): (speaker: Speaker) => string {
  const base = baseUrl?.value.href.replace(/\/$/, '');
  return ({ voice }) => base ?? voice.identity;
}

function noteNames({ changed: { count, first } }: NameTemplate, { notices }: Context): void {
  if (!first) return;
  const [value, name] = first;
  const others = count > 1 ? `, and ${count - 1} more are changed in the same way` : '';
  notices.note(`in the names of files ${quoted(value)} becomes ${quoted(name)}${others}`);
}

interface BatchRun {
  readonly job: BatchJob;
  readonly output: BatchOutput;
  readonly totals: RunTotals;
  readonly misfits: Misfits | undefined;
  readonly doubtful: DoubtfulSound;
}

async function make(
  states: RowStates,
  { job, output, totals, misfits, doubtful }: BatchRun,
  context: Context,
): Promise<void> {
  const { folder, shard } = states;
  if (states.toDoCount === 0) return;
  const { texts, settings } = job;
  const { signal, host, notices } = context;
  const service = await job.chooseService();
  const folders = prepareRowFiles(states, host);
  for (const encoding of encodingsToMake(states, job)) await encoding.assertReady();
  await using voices = job.voices;
  if (service) await assertSpeakers(states, voices, context);
  if (service?.note) notices.note(service.note);
  using journal = new Journal(join(folder.path, batchFile('journal', shard)), host.uid);
  const progress = progressOf(states.toDoCount, output);
  using _progress = showWhile((columns) => renderRows(progress(), columns), context);
  const [first] = states.toDo();
  if (first) await voices.open(first.speaker);
  const maker = new RowMaker({
    folder,
    mix: job.mix,
    maxFailures: settings.maxFailures?.value ?? Number.POSITIVE_INFINITY,
    hasCast: texts.named.cast !== undefined,
    read: (row, until) => texts.read(row, until),
    journal,
    writer: host,
    encodingOf: job.encodingOf,
    rowsAtOnce: 2 * settings.concurrency.value,
    listenersOf: listenersFor({ totals, misfits, doubtful }, context),
    onRow: (row, result) => {
      if (result.state === 'made') states.setMade(row, result.entry);
      output.finish(row, result);
    },
  });
  try {
    await maker.make(states.toDo(), signal);
    await syncFolders(folders);
  } catch (error) {
    throw withRowsLeft(error, output, states);
  }
}

function listenersFor(
  { totals, misfits, doubtful }: Pick<BatchRun, 'totals' | 'misfits' | 'doubtful'>,
  context: Context,
): (row: BatchRow) => readonly Listener[] {
  const reporting = new Reporting({}, undefined, context);
  const unreadIn = unreadInRows(context);
  return (row) => {
    const where = rowInWords(row);
    const lists: Listener = {
      on(event) {
        misfits?.on(event, where);
        doubtful.on(event, where);
      },
    };
    return [totals, lists, unreadIn(where), reporting];
  };
}

/** Checks the speaker numbers against the list of the service; without a list, any number may be valid. */
async function assertSpeakers(
  states: RowStates,
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
  states.plan.assertSpeakers(states.toDo(), (speaker) => known.has(speaker));
}

function progressOf(total: number, { counts }: BatchOutput): () => RowProgress {
  const begun = performance.now();
  // Rows without a text failed before the work began.
  const before = counts.failed;
  return () => {
    const { made } = counts;
    const failed = counts.failed - before;
    return { done: made + failed, failed, total, seconds: (performance.now() - begun) / 1000 };
  };
}

function encodingsToMake(states: RowStates, { encodingOf }: BatchJob): ReadonlySet<Encoding> {
  const encodings = new Set<Encoding>();
  for (const { file } of states.toDo()) encodings.add(encodingOf(file));
  return encodings;
}

function withRowsLeft(error: unknown, { counts, command }: BatchOutput, states: RowStates): unknown {
  if (!(error instanceof TtsError)) return error;
  const left = states.toDoCount - counts.made;
  return error.reworded(
    `${error.message}; ${countOf(left, 'row is', 'rows are')} left, and what is made is kept: the same command goes on from there (${command})`,
  );
}

/** @throws TtsError (partial) if a file is missing, not up to date, or left over */
async function check(job: BatchJob, approvals: Approvals | undefined, context: Context): Promise<number> {
  const states = await RowStates.take(job, context);
  const { allowEmpty, json } = job.settings;
  let [unapproved, failed] = [0, 0];
  const faultOf = ({ id }: BatchRow, entry: ManifestEntry | undefined) => {
    const fault = entry && approvals?.faultOf({ ...entry, id });
    if (fault) unapproved += 1;
    return fault;
  };
  const faults = await reportFaults(
    states,
    { host: context.host, allowEmpty: allowEmpty.value, faultOf },
    (found, file, row) => {
      if (row) failed += 1;
      const out = join(job.folder.name, file);
      const [state, why] = found === 'empty' ? ['missing', ', no text'] : [found, ''];
      const where = row ? ` (${placeOf(row)}, id ${row.id}${why})` : '';
      context.notices.result(
        json.value ? { id: row?.id, state, out } : `${state}: ${visible(`${out}${where}`)}`,
      );
    },
  );
  await fold(states, context);
  if (json.value) {
    const skipped = allowEmpty.value ? states.counts.empty : 0;
    const unchanged = job.plan.mine.length - failed - skipped;
    const output = new BatchOutput(job.plan, job.folder.name, true, context);
    Object.assign(output.counts, { unchanged, failed, skipped });
    output.summarise(new RunTotals(), 0);
  }
  assertNoFaults(faults, states, unapproved);
  return ExitCode.ok;
}

/** Merges the manifests of shards, unless one of them has changed since they were read: its new entries would be lost. */
async function fold(states: RowStates, { host, signal, notices }: Context): Promise<void> {
  const { folder, shard } = states;
  if (shard || findBatchFiles(folder.path).parts.length === 0) return;
  try {
    using _lock = lockFolder(folder.path, undefined, host);
    if (!states.isCurrent) throw new Error('one of them has changed meanwhile');
    await writeManifest(states, host, signal);
  } catch (error) {
    notices.detail(() => `the manifests of shards were not folded: ${(error as Error).message}`);
  }
}

/** Sends nothing, and needs no key. */
async function dryRun(job: BatchJob, context: Context): Promise<number> {
  await using _voices = job.voices;
  const { signal, notices } = context;
  const states = await RowStates.take(job, context);
  warnOfAbsent(job.texts.named, notices);
  const estimate = await estimated(job, states, signal);
  const { missing, stale, damaged, unchanged, empty } = states.counts;
  const changed = stale + damaged;
  const rows = job.plan.mine.length;
  const { characters } = states;
  const { charactersToSend, duration: seconds } = estimate.result;
  const pricing = pricingOf(job.settings);
  const price = pricing && costOf(estimate.paidCharacters, pricing);
  if (job.settings.json.value) {
    const counts = { rows, new: missing, changed, unchanged, empty };
    notices.result({ dryRun: true, ...counts, characters, charactersToSend, duration: seconds, ...price });
    return ExitCode.ok;
  }
  const counted = `${missing} new, ${changed} changed, ${unchanged} unchanged, ${empty} empty`;
  const sent = `${grouped(characters)} characters, ${grouped(charactersToSend)} to send`;
  const cost = price ? `, price ${priceInWords(price.price, price.currency)}` : '';
  const length = `${estimate.isGuessed ? 'about ' : ''}${duration(seconds)} of sound`;
  notices.result(`${countOf(rows, 'row')}: ${counted}; ${sent}${cost}; ${length}`);
  return ExitCode.ok;
}

async function estimated(
  { mix, voices, texts }: BatchJob,
  states: RowStates,
  signal: AbortSignal,
): Promise<Estimate> {
  const estimate = new Estimate(mix);
  for (const row of states.toDo()) {
    signal.throwIfAborted();
    const { speaker } = row;
    const cache = await voices.cacheFor(speaker);
    const written = cache ? undefined : texts.asWritten(row);
    if (written !== undefined) {
      // Only the cache needs single segments: do not spend a minute on cutting a million rows.
      estimate.addText(written, speaker);
      continue;
    }
    let isFirst = true;
    for await (const segment of texts.read(row, signal).segments) {
      await estimate.add(segment, isFirst, speaker, cache);
      isFirst &&= segment.kind === 'silence';
    }
  }
  return estimate;
}
