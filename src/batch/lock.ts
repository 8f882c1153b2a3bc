import {
  closeSync,
  fstatSync,
  linkSync,
  lutimesSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { ageOf } from '../age.ts';
import { codeOf, ExitCode, TtsError } from '../error.ts';
import { openOwn } from '../files/own-file.ts';
import { unwritable } from '../files/writable.ts';
import type { Host } from '../host.ts';
import { findBatchFiles, lockName } from './manifest.ts';
import type { Shard } from './shard.ts';

/** Milliseconds between two updates of the lock. */
const BEAT_MS = 10_000;
/** Milliseconds after which a run on another machine counts as dead. */
const DEAD_MS = 60_000;

interface Owner {
  readonly pid: number;
  readonly realm: string;
  readonly machine: string;
}

type LockHost = Pick<Host, 'pid' | 'realm' | 'isRunning'> & { readonly uid?: Host['uid'] };

/**
 * Shards of one division may share a folder. The lock of a dead process is taken over: at once on the same machine, after a
 * minute on another.
 */
export class BatchLock implements Disposable {
  readonly #path: string;
  readonly #beat: NodeJS.Timeout;

  private constructor(path: string) {
    this.#path = path;
    this.#beat = setInterval(() => touch(path), BEAT_MS).unref();
  }

  /** @throws TtsError (output) that names the other run, (usage) for a lock that is a link or not a file */
  static take(folder: string, shard: Shard | undefined, host: LockHost, machine: string): BatchLock {
    const path = join(folder, lockName(shard));
    const mine: Owner = { pid: host.pid, realm: host.realm, machine };
    if (!create(path, mine)) {
      removeDead(path, host);
      if (!create(path, mine)) throw atWork(path, read(path, host)?.owner);
    }
    const lock = new BatchLock(path);
    try {
      for (const other of findBatchFiles(folder).locks)
        if (excludes(other, shard)) assertDead(join(folder, other), host);
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
    return lock;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#beat);
    rmSync(this.#path, { force: true });
  }
}

function create(path: string, owner: Owner): boolean {
  try {
    const fd = openSync(path, 'wx', 0o644);
    try {
      writeSync(fd, JSON.stringify(owner));
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    } finally {
      closeSync(fd);
    }
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw unwritable(path, error);
  }
}

function touch(path: string): void {
  try {
    const now = new Date();
    lutimesSync(path, now, now);
  } catch {
    // The folder is gone: the next write fails.
  }
}

function excludes(name: string, shard: Shard | undefined): boolean {
  if (name === lockName(shard)) return false;
  return !(shard && name.endsWith(`-of-${shard.count}.lock`));
}

function assertDead(path: string, host: LockHost): string {
  const { text = '', age = 0, owner } = read(path, host) ?? {};
  const isHere = owner?.realm === host.realm;
  const isAlive = isHere ? host.isRunning(owner.pid) : age < DEAD_MS;
  if (isAlive) throw atWork(path, owner);
  return text;
}

function removeDead(path: string, host: LockHost): void {
  const dead = assertDead(path, host);
  const aside = `${path}.${host.pid}`;
  try {
    renameSync(path, aside);
    const isSame = read(aside, host)?.text === dead;
    if (!isSame) linkSync(aside, path);
    rmSync(aside);
    if (!isSame) throw atWork(path, read(path, host)?.owner);
  } catch (error) {
    throw unwritable(path, error);
  }
}

interface Lock {
  readonly text: string;
  /** Milliseconds. */
  readonly age: number;
  /** `undefined` for a lock that is not written yet. */
  readonly owner: Owner | undefined;
}

/** Bytes. */
const LONGEST = 4096;

/** @returns `undefined` if it is gone */
function read(path: string, { uid }: LockHost): Lock | undefined {
  let fd: number;
  try {
    fd = openOwn(path, 'O_RDONLY', uid);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unwritable(path, error);
  }
  try {
    const bytes = Buffer.alloc(LONGEST);
    const text = bytes.toString('utf8', 0, readSync(fd, bytes));
    return { text, age: ageOf(fstatSync(fd).mtimeMs), owner: ownerIn(text) };
  } finally {
    closeSync(fd);
  }
}

function ownerIn(text: string): Owner | undefined {
  try {
    const { pid, realm, machine } = JSON.parse(text);
    return Number.isInteger(pid) && pid > 0 ? { pid, realm, machine } : undefined;
  } catch {
    return undefined;
  }
}

function atWork(path: string, owner: Owner | undefined): TtsError {
  const who = owner ? `process ${owner.pid} on ${owner.machine}` : 'another run';
  return new TtsError(`${who} is at work in this folder (${path})`, {
    exitCode: ExitCode.output,
    hint: `wait for it, or end it; a machine that is gone is forgotten after ${DEAD_MS / 1000} s`,
  });
}
