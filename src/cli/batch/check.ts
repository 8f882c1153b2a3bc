import { hostname } from 'node:os';
import { join } from 'node:path';
import { leftOver, manifestLines, manifestPath, type Outcome, removeMerged } from '../../batch/closing.ts';
import { lockFolder } from '../../batch/lock.ts';
import { findBatchFiles } from '../../batch/manifest.ts';
import type { BatchPlan, BatchRow } from '../../batch/plan.ts';
import { KnownFiles, Survey } from '../../batch/survey.ts';
import { writeText } from '../../batch/write-lines.ts';
import { ExitCode, TtsError } from '../../error.ts';
import { visible } from '../../printable.ts';
import type { Context } from '../context.ts';
import { readerReady } from '../terminal/print.ts';
import { countOf } from '../terminal/style.ts';
import type { BatchJob } from './job.ts';
import type { RowTexts } from './row-text.ts';

export async function look(
  { texts, folder }: Pick<BatchJob, 'folder'> & { readonly texts: RowTexts },
  plan: BatchPlan,
  known: KnownFiles,
  { signal }: Context,
): Promise<Survey> {
  const keyOf = (row: BatchRow) => texts.keyOf(row, signal);
  return Survey.take(plan, known, { folder, keyOf, signal });
}

/** @throws TtsError (partial) if a file is missing, not up to date, or left over */
export async function check(job: BatchJob, plan: BatchPlan, context: Context): Promise<number> {
  using known = new KnownFiles(job.folder.path, context.host.uid);
  const survey = await look({ ...job, texts: await job.openTexts() }, plan, known, context);
  const outcome = { ...job, plan, known, survey };
  const faults = await report(outcome, job, context);
  await fold(outcome, context);
  if (faults === 0) return ExitCode.ok;
  throw new TtsError(`${countOf(faults, 'file is', 'files are')} missing, stale, damaged or left over`, {
    exitCode: ExitCode.partial,
    hint: 'the same command without --check makes what is missing; --prune deletes what is left over',
  });
}

async function report(
  { plan, known, survey, folder, shard }: Outcome,
  job: BatchJob,
  context: Context,
): Promise<number> {
  const { host, notices } = context;
  let faults = 0;
  const print = (state: string, file: string, row?: BatchRow) => {
    faults += 1;
    const out = join(job.folderName, file);
    const where = row ? ` (${row.table}, line ${row.line}, id ${row.id})` : '';
    if (job.json) notices.result({ id: row?.id, state, out });
    else notices.result(`${state}: ${visible(`${out}${where}`)}`);
  };
  for (const number of plan.mine()) {
    const state = survey.stateOf(number);
    if (state === undefined || state === 'unchanged' || state === 'empty') continue;
    const row = plan.rows.at(number);
    print(state, row.file, row);
    if (faults % 1000 === 0) await readerReady(host.stdout);
  }
  if (!shard) for (const { file } of leftOver({ folder, plan, known })) print('left over', file);
  return faults;
}

/** Merges the manifests of shards. */
async function fold(outcome: Outcome, { host, signal, notices }: Context): Promise<void> {
  const { folder, shard } = outcome;
  if (shard || findBatchFiles(folder.path).parts.length === 0) return;
  try {
    using _lock = lockFolder(folder.path, undefined, host, hostname());
    const path = manifestPath(outcome);
    await writeText({ path, name: path, writer: host }, manifestLines(outcome), signal);
    removeMerged(outcome);
  } catch (error) {
    notices.detail(() => `the manifests of shards were not folded: ${(error as Error).message}`);
  }
}
