import { rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ageOf } from '../age.ts';
import { codeOf, ExitCode, TtsError } from '../error.ts';
import { keyOfEntry } from './entry.ts';
import { type CacheFile, listEntries, listParts, listShards, TALLY } from './inventory.ts';
import { removeLists } from './services.ts';

export interface Found {
  readonly entries: number;
  readonly bytes: number;
}

/** A choice without a field means all entries. */
export interface Choice {
  /** Milliseconds. */
  readonly unusedFor?: number | undefined;
  readonly keys?: ReadonlySet<string> | undefined;
}

/** @throws TtsError (output) */
export async function measureCache(folder: string, choice: Choice = {}): Promise<Found> {
  return total(folder, () => {}, choice).catch((cause) => {
    throw inaccessible('read', folder, cause);
  });
}

/**
 * Without a choice, a run that is writing now loses its unfinished entries.
 * @throws TtsError (output)
 */
export async function clearCache(folder: string, choice: Choice = {}): Promise<Found> {
  const isAll = choice.keys === undefined && choice.unusedFor === undefined;
  const removed = isAll ? clear(folder) : total(folder, remove, choice);
  return removed.catch((cause) => {
    throw inaccessible('empty', folder, cause);
  });
}

const remove = ({ path }: CacheFile) => rmSync(path, { force: true });

async function clear(folder: string): Promise<Found> {
  const removed = await total(folder, remove);
  removeLists(folder);
  const parts = listParts(folder);
  for (const { path } of parts) rmSync(path, { force: true });
  rmSync(join(folder, TALLY), { force: true });
  for (const shard of listShards(folder)) removeIfEmpty(shard);
  return { ...removed, bytes: parts.reduce((sum, { bytes }) => sum + bytes, removed.bytes) };
}

function inaccessible(action: 'read' | 'empty', folder: string, cause: unknown): TtsError {
  return new TtsError(`cannot ${action} ${folder}`, {
    exitCode: ExitCode.output,
    hint: 'check its permissions, or name another folder with TTS_CACHE_DIR',
    cause,
  });
}

async function total(
  folder: string,
  each: (entry: CacheFile) => void,
  { keys, unusedFor = 0 }: Choice = {},
): Promise<Found> {
  const found = { entries: 0, bytes: 0 };
  for await (const entries of listEntries(folder)) {
    for (const entry of entries) {
      if (ageOf(entry.usedAt) < unusedFor || keys?.has(keyOfEntry(entry.path)) === false) continue;
      each(entry);
      found.entries += 1;
      found.bytes += entry.bytes;
    }
  }
  return found;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const code = codeOf(error);
    // Another run has written there, or the folder holds a file of another program.
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}
