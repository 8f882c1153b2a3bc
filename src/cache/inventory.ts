import {
  closeSync,
  type Dirent,
  fstatSync,
  ftruncateSync,
  lstatSync,
  readdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { ageOf } from '../age.ts';
import { yieldToEventLoop } from '../async.ts';
import { codeOf } from '../error.ts';
import { openOwn } from '../files/own-file.ts';
import { isEntryName, PART, SHARD } from './entry.ts';
import type { Home } from './folder.ts';

export interface CacheFile {
  readonly path: string;
  readonly bytes: number;
  /** The last read or write, in milliseconds since 1970. */
  readonly usedAt: number;
}

/** Lists the entries of one sub-folder at a time. Reading a whole folder costs a fifth of asking for each file. */
export async function* listEntries(folder: string): AsyncGenerator<CacheFile[]> {
  for (const shard of listShards(folder)) {
    yield files(shard, isEntryName);
    await yieldToEventLoop();
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
      // Another run may have removed the file.
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found ? [{ path, bytes: found.size, usedAt: found.mtimeMs }] : [];
    });
}

function read(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Milliseconds without a byte, after which a writer counts as dead. */
const LEFT_BEHIND = 3_600_000;

/** Files removed in one turn of the event loop. */
const BATCH = 64;

export async function evict(folder: string, limit: number): Promise<void> {
  const entries: CacheFile[] = [];
  for await (const found of listEntries(folder)) entries.push(...found);
  let excess = entries.reduce((sum, { bytes }) => sum + bytes, 0) - limit;
  if (excess <= 0) return;
  const now = Date.now();
  entries.sort((a, b) => ageOf(b.usedAt, now) - ageOf(a.usedAt, now));
  for (const [i, { path, bytes }] of entries.entries()) {
    if (excess <= 0) return;
    rmSync(path, { force: true });
    excess -= bytes;
    if (i % BATCH === BATCH - 1) await yieldToEventLoop();
  }
}

/** Removes the unfinished entries of dead runs. */
export function sweepParts(folder: string): void {
  for (const { path, usedAt } of listParts(folder))
    if (ageOf(usedAt) > LEFT_BEHIND) rmSync(path, { force: true });
}

export const TALLY = 'tally';

const UNIT_BYTES = 4096;

/**
 * Counts what all runs write by the length of a file, to which several processes can append.
 * @returns true when `limit` bytes have come together; the count starts again
 * @throws TtsError (usage) for a link and for what is not a file; the system's error
 */
export function tally({ folder, uid }: Home, bytes: number, limit: number): boolean {
  const fd = openOwn(join(folder, TALLY), 'O_APPEND', uid, 0o600);
  try {
    writeSync(fd, Buffer.alloc(Math.ceil(bytes / UNIT_BYTES)));
    if (fstatSync(fd).size * UNIT_BYTES < limit) return false;
    ftruncateSync(fd);
    return true;
  } finally {
    closeSync(fd);
  }
}
