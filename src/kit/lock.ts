import {
  closeSync,
  fstatSync,
  linkSync,
  lutimesSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { codeOf } from './error.ts';
import { openOwn } from './guard.ts';
import type { Host } from './host.ts';
import { delay } from './wait.ts';
import { ageOf } from './words.ts';

/** Milliseconds between two updates of the file's time, by which an owner shows that it is alive. */
const BEAT_MS = 10_000;
/** Milliseconds without an update after which an owner counts as dead, if its process cannot be looked up. */
export const DEAD_MS = 60_000;
/** Milliseconds between two checks of a lease that another run holds. */
const POLL_MS = 100;
/** Bytes of a lease file that are read. */
const LONGEST = 4096;

export type LeaseHost = Pick<Host, 'pid' | 'realm' | 'isRunning'> & { readonly uid?: Host['uid'] };

/** The content of a lease file: who holds the lease, and since when it gave no sign of life. */
export interface Holder {
  /** `undefined` if the file is not written yet. */
  readonly owner: Owner | undefined;
  /** Milliseconds since the file was last updated. */
  readonly age: number;
  readonly text: string;
}

interface Owner {
  readonly pid: number;
  readonly realm: string;
  /** Tells the process from a later one with the same ID ({@link birthOf}). */
  readonly birth?: string | undefined;
  /** The name of the machine, if the owner gave it. */
  readonly machine?: string | undefined;
}

interface Rules {
  /** The name of this machine, which other runs show in their messages. */
  readonly machine?: string;
  /** True if the lease of this holder may be taken over; by default, if the holder is dead. */
  readonly isOver?: (holder: Holder, host: LeaseHost) => boolean;
}

/**
 * A lock file. The lock of a dead owner is taken over: its process is looked up where that is possible, and elsewhere an
 * owner that no longer updates the file counts as dead.
 */
export class Lease implements Disposable {
  readonly #path: string;
  readonly #text: string;
  readonly #host: LeaseHost;
  #beat: NodeJS.Timeout | undefined;

  private constructor(path: string, text: string, host: LeaseHost) {
    this.#path = path;
    this.#text = text;
    this.#host = host;
  }

  /**
   * @returns the lease, or who else holds it
   * @throws TtsError (usage) for a link and for anything but a regular file; the system's error
   */
  static take(path: string, host: LeaseHost, { machine, isOver = isDead }: Rules = {}): Lease | Holder {
    const { pid, realm } = host;
    const text = JSON.stringify({ pid, realm, birth: birthOf(pid) || undefined, machine });
    while (!create(path, text)) {
      const holder = holderOf(path, host);
      if (holder && !isOver(holder, host)) return holder;
      if (holder) remove(path, holder, host);
    }
    return new Lease(path, text, host);
  }

  /**
   * Waits until the lease is free.
   * @param onWait called once, if there is a wait
   * @throws as `take`; the signal's reason
   */
  static async wait(
    path: string,
    host: LeaseHost,
    { signal, onWait, ...rules }: Rules & { readonly signal: AbortSignal; readonly onWait?: () => void },
  ): Promise<Lease> {
    for (let tell = onWait; ; tell = undefined) {
      const taken = Lease.take(path, host, rules);
      if (taken instanceof Lease) return taken;
      tell?.();
      await delay(POLL_MS, signal);
    }
  }

  /** Updates the file's time regularly, so that the owner counts as alive until disposal. */
  beating(): this {
    this.#beat = setInterval(() => this.touch(), BEAT_MS).unref();
    return this;
  }

  touch(): void {
    try {
      const now = new Date();
      lutimesSync(this.#path, now, now);
    } catch {
      // If the folder is gone, the next write reports it.
    }
  }

  /** Removes the file, unless another run has taken the lease over. */
  [Symbol.dispose](): void {
    clearInterval(this.#beat);
    try {
      if (holderOf(this.#path, this.#host)?.text === this.#text) rmSync(this.#path, { force: true });
    } catch {
      // The next run notices that this one is dead.
    }
  }
}

/**
 * @returns `undefined` if the lease is free
 * @throws TtsError (usage) for a link and for anything but a regular file; the system's error
 */
export function holderOf(path: string, { uid }: Pick<LeaseHost, 'uid'>): Holder | undefined {
  let fd: number;
  try {
    fd = openOwn(path, 'O_RDONLY', uid);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const bytes = Buffer.alloc(LONGEST);
    const text = bytes.toString('utf8', 0, readSync(fd, bytes));
    return { text, age: ageOf(fstatSync(fd).mtimeMs), owner: ownerIn(text) };
  } finally {
    closeSync(fd);
  }
}

/** Judges an owner that is not known yet like one on another machine, by age. */
export function isDead({ owner, age }: Holder, host: LeaseHost): boolean {
  return owner?.realm === host.realm ? !runs(owner, host) : age >= DEAD_MS;
}

/** Another process may have the ID by now: in a container that is started again, it is often the same program. */
function runs({ pid, birth }: Owner, { isRunning }: LeaseHost): boolean {
  const found = birthOf(pid);
  return isRunning(pid) && (!birth || !found || birth === found);
}

/** Returns the start time of a process in Linux clock ticks after boot; empty on other systems, and if it is hidden. */
export function birthOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')')).split(' ')[20] ?? '';
  } catch {
    return '';
  }
}

/** Milliseconds after which a file that its owner has not written counts as left by a dead one. */
const UNWRITTEN_MS = 1000;

/** Like `isDead`, but after a second also true for an owner that was killed before it wrote the file. */
export function isDeadOrUnwritten(holder: Holder, host: LeaseHost): boolean {
  return holder.owner === undefined ? holder.age > UNWRITTEN_MS : isDead(holder, host);
}

function create(path: string, text: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, 'wx', 0o644);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(fd, text);
    return true;
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Removes the lease of a dead holder. If another run has meanwhile taken it over, its file is put back. */
function remove(path: string, holder: Holder, host: LeaseHost): void {
  const aside = `${path}.${host.pid}`;
  try {
    renameSync(path, aside);
    if (holderOf(aside, host)?.text !== holder.text) linkSync(aside, path);
  } catch (error) {
    // A third run may have taken the lease meanwhile.
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error))) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function ownerIn(text: string): Owner | undefined {
  try {
    const { pid, realm, birth, machine } = JSON.parse(text);
    return Number.isInteger(pid) && pid > 0 ? { pid, realm, birth, machine } : undefined;
  } catch {
    return undefined;
  }
}
