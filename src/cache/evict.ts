import { rmSync } from 'node:fs';
import { setImmediate as otherWork } from 'node:timers/promises';
import { type CacheFile, listEntries, listParts } from './listing.ts';

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
