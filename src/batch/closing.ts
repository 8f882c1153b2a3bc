import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Writer } from '../files/part-name.ts';
import { isOfEncoding, isOfFormat } from '../sink/encodings.ts';
import { findBatchFiles, journalName, lineOf, type ManifestEntry, manifestName } from './manifest.ts';
import type { BatchPlan } from './plan.ts';
import type { RowFolder } from './row-folder.ts';
import { hashFile } from './row-state.ts';
import type { Shard } from './shard.ts';
import type { KnownFiles, Survey } from './survey.ts';
import { writeText } from './write-lines.ts';

export interface Outcome {
  readonly folder: RowFolder;
  readonly shard: Shard | undefined;
  readonly plan: BatchPlan;
  readonly known: KnownFiles;
  readonly survey: Survey;
}

type Left = Pick<Outcome, 'folder' | 'plan' | 'known'>;

/**
 * Writes the manifest again, and removes what it now holds besides.
 * @throws TtsError (output), (usage) for a link
 */
export async function writeManifest(outcome: Outcome, writer: Writer, signal: AbortSignal): Promise<void> {
  const { folder, shard } = outcome;
  const path = join(folder.path, manifestName(shard));
  await writeText({ path, name: path, writer }, linesOf(outcome), signal);
  const merged = shard ? [journalName(shard)] : findBatchFiles(folder.path).parts;
  for (const name of merged) rmSync(join(folder.path, name), { force: true });
}

function* linesOf({ folder, shard, plan, known, survey }: Outcome): Generator<string> {
  for (const number of plan.mine()) {
    const entry = known.at(survey.entryOf(number));
    if (entry) yield lineOf(entry);
  }
  if (!shard) for (const entry of leftOver({ folder, plan, known })) yield lineOf(entry);
}

export function* leftOver({ folder, plan, known }: Left): Generator<ManifestEntry> {
  for (let number = 0; number < known.entries.count; number += 1) {
    const entry = known.entries.at(number);
    const isLast = known.last(entry.file) === number;
    if (isLast && !plan.hasFile(entry.file) && folder.find(entry.file)) yield entry;
  }
}

export function countLeftOver(outcome: Outcome): number {
  let count = 0;
  if (!outcome.shard) for (const _ of leftOver(outcome)) count += 1;
  return count;
}

/** Finds what is left over and still as it was written: a manifest may come from somebody else. */
export async function* prunable(left: Left, signal: AbortSignal): AsyncGenerator<ManifestEntry> {
  for (const entry of leftOver(left)) if (await isAsWritten(entry, left, signal)) yield entry;
}

/** Deletes what is still {@link prunable}, and gives out what it deleted. */
export async function* prune(left: Left, signal: AbortSignal): AsyncGenerator<ManifestEntry> {
  for await (const entry of prunable(left, signal)) {
    rmSync(left.folder.pathOf(entry.file), { force: true });
    yield entry;
  }
}

/** Finds what {@link prune} left there, and why. */
export function* unpruned(left: Left): Generator<{ readonly file: string; readonly why: string }> {
  for (const { file } of leftOver(left))
    yield {
      file,
      why: isSound(file, left)
        ? 'it was changed since it was made'
        : 'by its name it is no sound of this batch',
    };
}

async function isAsWritten({ file }: ManifestEntry, left: Left, signal: AbortSignal): Promise<boolean> {
  const path = left.folder.find(file);
  if (path === undefined || !isSound(file, left)) return false;
  return left.known.withSound(file, await hashFile(path, signal)) >= 0;
}

/** A file that is not sound is not ours, whatever a manifest says. `--encode` writes sound under any ending. */
function isSound(file: string, { plan }: Left): boolean {
  return isOfFormat(file) || isOfEncoding(file) || plan.couldHave(file);
}
