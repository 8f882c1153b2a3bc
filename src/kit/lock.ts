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
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './error.ts';
import { openOwn } from './guard.ts';
import type { Host } from './host.ts';
import { ageOf } from './words.ts';

/** Milliseconds between two signs of life. */
const BEAT_MS = 10_000;
/** Milliseconds without a sign of life, after which an owner that cannot be looked at counts as dead. */
export const DEAD_MS = 60_000;
/** Milliseconds between two looks at a lease that somebody else has. */
const LOOK_MS = 100;
/** Bytes of a file that are read. */
const LONGEST = 4096;

export type LeaseHost = Pick<Host, 'pid' | 'realm' | 'isRunning'> & { readonly uid?: Host['uid'] };

/** Who is at work on something, as a file says. */
export interface Holder {
  /** `undefined` for a file that is not written yet. */
  readonly owner: Owner | undefined;
  /** Milliseconds since the last sign of life. */
  readonly age: number;
  readonly text: string;
}

interface Owner {
  readonly pid: number;
  readonly realm: string;
  /** It is missing where it is not reported. */
  readonly machine?: string | undefined;
}

interface Rules {
  /** The name of this machine, for the message of another run. */
  readonly machine?: string;
  /** Says whether the lease of a holder is taken over. By default it is if the holder is dead. */
  readonly isOver?: (holder: Holder, host: LeaseHost) => boolean;
}

/**
 * A file that says who is at work. Nobody is held up by a dead owner: its process is looked at where that is possible, and
 * elsewhere an owner without a sign of life is dead.
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
   * @returns who else has it
   * @throws TtsError (usage) for a link and for what is not a file; the system's error
   */
  static take(path: string, host: LeaseHost, { machine, isOver = isDead }: Rules = {}): Lease | Holder {
    const text = JSON.stringify({ pid: host.pid, realm: host.realm, machine });
    while (!create(path, text)) {
      const holder = holderOf(path, host);
      if (holder && !isOver(holder, host)) return holder;
      if (holder) remove(path, holder, host);
    }
    return new Lease(path, text, host);
  }

  /**
   * Waits until it is free.
   * @param onWait is called once
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
      await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  /** Gives signs of life until the end. */
  beating(): this {
    this.#beat = setInterval(() => this.touch(), BEAT_MS).unref();
    return this;
  }

  touch(): void {
    try {
      const now = new Date();
      lutimesSync(this.#path, now, now);
    } catch {
      // The folder is gone: the next write fails.
    }
  }

  /** What somebody else has taken over stays. */
  [Symbol.dispose](): void {
    clearInterval(this.#beat);
    try {
      if (holderOf(this.#path, this.#host)?.text === this.#text) rmSync(this.#path, { force: true });
    } catch {
      // The next run looks whether this one is alive.
    }
  }
}

/**
 * @returns `undefined` if it is free
 * @throws TtsError (usage) for a link and for what is not a file; the system's error
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

/** An owner that is not known yet counts as one on another machine. */
export function isDead({ owner, age }: Holder, { realm, isRunning }: LeaseHost): boolean {
  return owner?.realm === realm ? !isRunning(owner.pid) : age >= DEAD_MS;
}

/** Milliseconds that an owner takes to write the file. */
const UNWRITTEN_MS = 1000;

/** Goes on sooner where the owner was ended before it could write the file. */
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

/** Another run may have done the same, and be at work now: its file is put back. */
function remove(path: string, holder: Holder, host: LeaseHost): void {
  const aside = `${path}.${host.pid}`;
  try {
    renameSync(path, aside);
    if (holderOf(aside, host)?.text !== holder.text) linkSync(aside, path);
  } catch (error) {
    // A third run may have taken the name meanwhile.
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error))) throw error;
  } finally {
    rmSync(aside, { force: true });
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
