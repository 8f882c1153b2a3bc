import { constants, type Dirent, lstatSync, readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { isEntryName, PART, SHARD } from './entry.ts';

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

/** After this many milliseconds without a byte, whoever was writing is taken to be gone. */
const LEFT_BEHIND = 3_600_000;

/** Removed at one go before other work has its turn. */
const BATCH = 64;

/** Removes the entries that were not used for the longest time, until the others have no more than `limit` bytes. */
export async function evict(folder: string, limit: number): Promise<void> {
  const entries: CacheFile[] = [];
  for await (const found of listEntries(folder)) entries.push(...found);
  let excess = entries.reduce((sum, { bytes }) => sum + bytes, 0) - limit;
  if (excess <= 0) return;
  entries.sort((a, b) => a.usedAt - b.usedAt);
  for (const [i, { path, bytes }] of entries.entries()) {
    if (excess <= 0) return;
    rmSync(path, { force: true });
    excess -= bytes;
    if (i % BATCH === BATCH - 1) await otherWork();
  }
}

/** Removes what killed runs were writing. */
export function sweepParts(folder: string, now: number): void {
  for (const { path, usedAt } of listParts(folder))
    if (now - usedAt > LEFT_BEHIND) rmSync(path, { force: true });
}

export const TALLY = 'tally';

/** What one byte of the tally stands for. */
const UNIT_BYTES = 4096;

const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/**
 * Counts what all runs have written together, so that the cache need not be looked through at each of them. The count
 * is the length of a file: appending is a thing that several processes can do at once without losing one.
 * @returns whether `limit` bytes have come together; counting then begins anew
 */
export async function tally(folder: string, bytes: number, limit: number): Promise<boolean> {
  const file = await open(join(folder, TALLY), APPENDING, 0o600);
  try {
    await file.writeFile(Buffer.alloc(Math.ceil(bytes / UNIT_BYTES)));
    const { size } = await file.stat();
    if (size * UNIT_BYTES < limit) return false;
    await file.truncate(0);
    return true;
  } finally {
    await file.close();
  }
}
