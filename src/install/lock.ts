import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ageOf } from '../age.ts';
import { codeOf } from '../error.ts';
import { unwritable } from '../files/writable.ts';
import type { Host, RunContext } from '../host.ts';

const BEAT_MS = 10_000;
/** Milliseconds after which a run on another machine counts as dead. */
const DEAD_MS = 60_000;
const POLL_MS = 100;

/**
 * Runs the action while no other run changes the voices. A second run waits and says so; the lock of a dead one is taken over.
 * @throws TtsError (output), and what the action throws
 */
export async function withVoicesLock<T>(
  data: string,
  { host, notices, signal }: RunContext,
  action: () => Promise<T>,
): Promise<T> {
  const path = join(data, '.lock');
  const mine = JSON.stringify({ pid: host.pid, realm: host.realm });
  let isTold = false;
  while (!create(path, mine)) {
    if (isDead(path, host)) removeDead(path, host);
    else {
      if (!isTold) notices.note(`another run changes the voices in ${data}: waiting for it`);
      isTold = true;
      await sleep(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
  const beat = setInterval(() => touch(path), BEAT_MS).unref();
  try {
    return await action();
  } finally {
    clearInterval(beat);
    rmSync(path, { force: true });
  }
}

function create(path: string, owner: string): boolean {
  try {
    const fd = openSync(path, 'wx', 0o600);
    writeSync(fd, owner);
    closeSync(fd);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw unwritable(path, error, 'name another folder with TTS_DATA_DIR');
  }
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // The folder is gone: the next write fails.
  }
}

/** Another run may have done the same, and be at work now: its lock is put back. */
function removeDead(path: string, host: Host): void {
  const aside = `${path}.${host.pid}`;
  try {
    renameSync(path, aside);
    if (!isDead(aside, host)) linkSync(aside, path);
    rmSync(aside, { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw unwritable(path, error, 'name another folder with TTS_DATA_DIR');
  }
}

function isDead(path: string, { realm, isRunning }: Host): boolean {
  try {
    const { mtimeMs } = statSync(path);
    const owner = JSON.parse(readFileSync(path, 'utf8'));
    return owner.realm === realm ? !isRunning(owner.pid) : ageOf(mtimeMs) > DEAD_MS;
  } catch (error) {
    // A lock may be looked at before its owner has written it.
    return (
      error instanceof SyntaxError && ageOf(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > 1000
    );
  }
}
