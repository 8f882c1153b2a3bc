import { closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ageOf } from '../age.ts';
import { codeOf } from '../error.ts';
import { AtomicFile } from './atomic-file.ts';
import { besideFile } from './part-name.ts';

/**
 * Replaces the file in one step. The new one is on the disk when this resolves.
 * @throws the system's error; the old file is unchanged then
 */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  await using file = AtomicFile.create(path, { mode, durable: true });
  writeFileSync(file.fd, text);
  await file.publish();
}

/** Milliseconds. An older lock belongs to a killed run. */
const LOCK_MS = 5000;
const POLL_MS = 10;

/**
 * Runs the action while no other run changes the file: two logins at once must not lose a key.
 * @throws the system's error
 */
export async function withLock<T>(path: string, action: () => Promise<T>): Promise<T> {
  const lock = besideFile(path, 'lock');
  while (!makeLock(lock)) {
    const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (ageOf(made) > LOCK_MS) rmSync(lock, { force: true });
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
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}
