import { rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ExitCode, TtsError } from '../error.ts';
import { type CacheFile, listEntries, listParts, listShards, TALLY } from './inventory.ts';

export interface Found {
  readonly entries: number;
  readonly bytes: number;
}

/** @throws TtsError (output) */
export async function measureCache(folder: string): Promise<Found> {
  return total(folder, () => {}).catch((cause) => {
    throw inaccessible('read', folder, cause);
  });
}

/**
 * Removes only what the cache has made. A run that writes now loses its unfinished entries.
 * @throws TtsError (output)
 */
export async function clearCache(folder: string): Promise<Found> {
  return clear(folder).catch((cause) => {
    throw inaccessible('empty', folder, cause);
  });
}

async function clear(folder: string): Promise<Found> {
  const removed = await total(folder, ({ path }) => rmSync(path, { force: true }));
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

async function total(folder: string, each: (entry: CacheFile) => void): Promise<Found> {
  const found = { entries: 0, bytes: 0 };
  for await (const entries of listEntries(folder)) {
    for (const entry of entries) {
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
    const { code } = error as NodeJS.ErrnoException;
    // Another run has written, or the file is foreign.
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}
