import { constants, type Dirent, lstatSync, readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { isEntryName, PART, SHARD } from './entry.ts';

export interface CacheFile {
  readonly path: string;
  readonly bytes: number;
  /** The last read or write, in milliseconds since 1970. */
  readonly usedAt: number;
}

/** One sub-folder at a time, without other files. Reading a whole folder costs a fifth of asking for each file. */
export async function* listEntries(folder: string): AsyncGenerator<CacheFile[]> {
  for (const shard of listShards(folder)) {
    yield files(shard, isEntryName);
    await otherWork();
  }
}

export function listParts(folder: string): CacheFile[] {
  return files(folder, (name) => PART.test(name));
}

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
      // Another run may have removed it.
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

/** Milliseconds without a byte from a dead writer. */
const LEFT_BEHIND = 3_600_000;

/** Files removed in one turn of the event loop. */
const BATCH = 64;

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

/** Of dead runs. */
export function sweepParts(folder: string, now: number): void {
  for (const { path, usedAt } of listParts(folder))
    if (now - usedAt > LEFT_BEHIND) rmSync(path, { force: true });
}

export const TALLY = 'tally';

const UNIT_BYTES = 4096;

const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/**
 * Counts what all runs write by the length of a file, to which several processes can append.
 * @returns true when `limit` bytes have come together; the count starts again
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
