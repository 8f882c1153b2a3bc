import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { isEntryName, PART, SHARD } from './entry-name.ts';

/** A file of the cache. */
export interface CacheFile {
  readonly path: string;
  readonly bytes: number;
  /** When it was last written or read, in milliseconds since 1970. */
  readonly usedAt: number;
}

/**
 * The entries, those of one sub-folder at a time; what the cache did not make is left out. Reads a sub-folder at one
 * go, which costs a fifth of asking for each file on its own, and lets other work come between.
 */
export async function* listEntries(folder: string): AsyncGenerator<CacheFile[]> {
  for (const shard of listShards(folder)) {
    yield files(shard, isEntryName);
    await otherWork();
  }
}

/** What is being written, or was when a run was killed. */
export function listParts(folder: string): CacheFile[] {
  return files(folder, (name) => PART.test(name));
}

/** The sub-folders of entries; links to folders are none. */
export function listShards(folder: string): string[] {
  return read(folder)
    .filter((found) => found.isDirectory() && SHARD.test(found.name))
    .map(({ name }) => join(folder, name));
}

function files(folder: string, isOurs: (name: string) => boolean): CacheFile[] {
  return read(folder)
    .filter((found) => found.isFile() && isOurs(found.name))
    .flatMap(({ name }) => {
      const path = join(folder, name);
      // Another run may remove it between the two looks.
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found ? [{ path, bytes: found.size, usedAt: found.mtimeMs }] : [];
    });
}

function read(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
