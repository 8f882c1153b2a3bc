import { closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AtomicFile } from './atomic-file.ts';
import { besideFile } from './part-name.ts';

/**
 * Replaces a small file in one step; it is on the disk then.
 * @param mode of which the umask takes away
 * @throws what the system says; the old file is as it was then
 */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  await using file = AtomicFile.create(path, { mode, durable: true });
  writeFileSync(file.fd, text);
  await file.publish();
}

/** A lock that is older was left by a killed run, in milliseconds. */
const LOCK_MS = 5000;
const POLL_MS = 10;

/**
 * Runs an action that reads and replaces a file, while no other process does so.
 * @throws what the system says where the lock cannot be made
 */
export async function withLock<T>(path: string, action: () => Promise<T>): Promise<T> {
  const lock = besideFile(path, 'lock');
  while (!makeLock(lock)) {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    // A time in the future is no owner either.
    if (Math.abs(age) > LOCK_MS) rmSync(lock, { force: true });
    else await sleep(POLL_MS);
  }
  try {
    return await action();
  } finally {
    rmSync(lock, { force: true });
  }
}

function makeLock(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
