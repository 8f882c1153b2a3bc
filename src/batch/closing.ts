import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findBatchFiles, journalName, lineOf, type ManifestEntry, manifestName } from './manifest.ts';
import type { BatchPlan } from './plan.ts';
import type { Shard } from './shard.ts';
import type { KnownFiles, Survey } from './survey.ts';

export interface Outcome {
  readonly folder: string;
  readonly shard: Shard | undefined;
  readonly plan: BatchPlan;
  readonly known: KnownFiles;
  readonly survey: Survey;
}

export function* manifestLines({ folder, shard, plan, known, survey }: Outcome): Generator<string> {
  for (const number of plan.mine()) {
    const entry = known.at(survey.entryOf(number));
    if (entry) yield lineOf(entry);
  }
  if (!shard) for (const entry of leftOver({ folder, plan, known })) yield lineOf(entry);
}

export function* leftOver({
  folder,
  plan,
  known,
}: Pick<Outcome, 'folder' | 'plan' | 'known'>): Generator<ManifestEntry> {
  for (let number = 0; number < known.entries.count; number += 1) {
    const entry = known.entries.at(number);
    const isLast = known.find(entry.file, '') === number;
    if (isLast && !plan.hasFile(entry.file) && existsSync(join(folder, entry.file))) yield entry;
  }
}

export function prune(outcome: Pick<Outcome, 'folder' | 'plan' | 'known'>): string[] {
  const files = [...leftOver(outcome)].map(({ file }) => file);
  for (const file of files) rmSync(join(outcome.folder, file), { force: true });
  return files;
}

export function removeFolded({ folder, shard }: Pick<Outcome, 'folder' | 'shard'>): void {
  const names = shard ? [journalName(shard)] : findBatchFiles(folder).parts;
  for (const name of names) rmSync(join(folder, name), { force: true });
}

export function manifestPath({ folder, shard }: Pick<Outcome, 'folder' | 'shard'>): string {
  return join(folder, manifestName(shard));
}
