/** Code that a batch and `--split` share: the files of rows or chapters in one folder, `--check` and `--prune`. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FolderPlan,
  leftOver,
  lockFolder,
  type ManifestEntry,
  prunable,
  RowStates,
  writeManifest,
} from '../batch/manifest.ts';
import type { BatchRow } from '../batch/plan.ts';
import { ExitCode, TtsError } from '../kit/error.ts';
import { makeOutputFolder } from '../kit/folders.ts';
import { countOf, visible, withMore } from '../kit/words.ts';
import { longFlag } from '../options/option.ts';
import { isName, rowOf } from '../options/rows.ts';
import type { Context } from './commands.ts';
import { askYes, readerReady } from './print.ts';

/**
 * Makes the missing and stale files of a folder, which is locked against other runs.
 * @param make makes the files that the states name as missing or stale
 * @returns the states that the files had before, with the new entries, and whether `--prune` was allowed to delete left-over files
 */
export async function updateFolder(
  planned: FolderPlan,
  consent: Consent,
  make: (states: RowStates) => Promise<void>,
  context: Context,
): Promise<{ readonly states: RowStates; readonly isPruned: boolean }> {
  const { host, signal } = context;
  const { folder, shard } = planned;
  makeOutputFolder(folder.path);
  using _lock = lockFolder(folder.path, shard, host);
  const states = await RowStates.take(planned, context);
  const isPruned = await mayPrune(states, consent, context);
  await make(states);
  if (isPruned) await pruneFiles(states, context);
  await writeManifest(states, host, signal);
  return { states, isPruned };
}

/** Files that the error of `--prune` names at most. A terminal shows all. */
const MOST_SHOWN = 20;

interface Consent {
  readonly prune: boolean;
  /** True deletes without asking. */
  readonly yes: boolean;
}

/**
 * Asks before any row is made, so that finished work does not wait for an answer.
 * @returns whether the files may be deleted
 * @throws TtsError (usage) if there is no terminal to answer
 */
async function mayPrune(
  states: RowStates,
  { prune: isWanted, yes }: Consent,
  context: Context,
): Promise<boolean> {
  if (!isWanted || yes) return isWanted;
  const { host, notices, signal } = context;
  const shown: string[] = [];
  let count = 0;
  for await (const { file, reasonToKeep } of prunable(states, signal)) {
    if (reasonToKeep !== undefined) continue;
    const name = visible(join(states.folder.name, file));
    count += 1;
    if (host.stdin.isTTY) notices.print(`  ${name}`);
    else if (shown.length < MOST_SHOWN) shown.push(name);
  }
  if (count === 0) return true;
  const answer = await askYes(`Delete ${countOf(count, 'file')}?`, context);
  if (answer === undefined) throw unasked(count, shown);
  if (!answer) notices.note('nothing is deleted');
  return answer;
}

function unasked(count: number, shown: readonly string[]): TtsError {
  return new TtsError(`--prune would delete ${countOf(count, 'file')}`, {
    exitCode: ExitCode.usage,
    details: withMore(shown, count),
    hint: 'nothing was deleted or made: add --yes if these files may go',
  });
}

/** Deletes what may be deleted, and notes the name of each file that is deleted or kept. */
async function pruneFiles(states: RowStates, { notices, signal }: Context): Promise<void> {
  for await (const { file, reasonToKeep } of prunable(states, signal)) {
    const name = join(states.folder.name, file);
    if (reasonToKeep !== undefined) {
      notices.note(`kept ${name}: ${reasonToKeep}; delete it by hand`);
      continue;
    }
    rmSync(states.folder.pathOf(file), { force: true });
    notices.note(`deleted ${name}`);
  }
}

interface Checking extends Pick<Context, 'host'> {
  readonly allowEmpty: boolean;
  /** Returns what is still wrong with an unchanged file, such as a missing approval. */
  readonly faultOf?: (row: BatchRow, entry: ManifestEntry | undefined) => string | undefined;
}

/**
 * Finds the files that are missing, stale, damaged or left over.
 * @param report is called for each such file, without a row for one that is left over
 * @returns their number
 */
export async function reportFaults(
  states: RowStates,
  { host, allowEmpty, faultOf }: Checking,
  report: (state: string, file: string, row?: BatchRow) => void,
): Promise<number> {
  let faults = 0;
  for (const row of states.plan.mine) {
    const state = states.stateOf(row);
    if (state === undefined || (state === 'empty' && allowEmpty)) continue;
    const fault = state === 'unchanged' ? faultOf?.(row, states.entryOf(row)) : state;
    if (fault === undefined) continue;
    report(fault, row.file, row);
    faults += 1;
    if (faults % 1000 === 0) await readerReady(host.stdout);
  }
  if (states.shard) return faults;
  for (const { file } of leftOver(states)) {
    report('left over', file);
    faults += 1;
  }
  return faults;
}

/**
 * @param unapproved the number of faults that are sounds without approval
 * @throws TtsError (partial) if there are faults
 */
export function assertNoFaults(faults: number, states: RowStates, unapproved = 0): void {
  if (faults === 0) return;
  const isOnlyApproval = unapproved === faults;
  const more = unapproved > 0 ? ', left over or not approved' : ' or left over';
  const what = isOnlyApproval ? 'not approved' : `missing, stale, damaged${more}`;
  throw new TtsError(`${countOf(faults, 'file is', 'files are')} ${what}`, {
    exitCode: ExitCode.partial,
    hint: isOnlyApproval
      ? APPROVAL_HINT
      : (otherOptions(states) ?? (states.counts.empty === faults ? EMPTY_HINT : HINT)),
  });
}

const HINT = 'the same command without --check makes what is missing; --prune deletes what is left over';
const EMPTY_HINT = 'give each row a text, or let --allow-empty skip those without one';
const APPROVAL_HINT = 'listen to them on the page of --report, tick them, and save approved.jsonl there';

/** Returns a hint if every file is stale: the options then probably differ, and all files would be paid for again. */
function otherOptions({ differing }: RowStates): string | undefined {
  if (differing.length === 0) return undefined;
  const others = differing.map((name) => (isName(name) ? longFlag(rowOf(name)) : '--base-url or --engine'));
  return `all were made with another ${others.join(' and ')}: give --check the options of that run; without --check, all are made again`;
}
