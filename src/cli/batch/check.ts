import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Outcome, writeManifest } from '../../batch/closing.ts';
import { lockFolder } from '../../batch/lock.ts';
import { findBatchFiles, type ManifestEntry } from '../../batch/manifest.ts';
import type { BatchPlan, BatchRow } from '../../batch/plan.ts';
import { KnownFiles, Survey } from '../../batch/survey.ts';
import { ExitCode } from '../../error.ts';
import { visible } from '../../printable.ts';
import { assertNoFaults, tellFaults } from '../checking.ts';
import type { Context } from '../context.ts';
import type { Approvals } from './approvals.ts';
import type { BatchJob } from './job.ts';

/** @throws TtsError (partial) if a file is missing, not up to date, or left over */
export async function check(
  job: BatchJob,
  { plan, approvals }: { readonly plan: BatchPlan; readonly approvals: Approvals | undefined },
  context: Context,
): Promise<number> {
  using known = new KnownFiles(job.folder.path, context.host.uid);
  const texts = await job.openTexts();
  const survey = await Survey.take(plan, known, { folder: job.folder, texts, signal: context.signal });
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
