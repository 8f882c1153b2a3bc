import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ageOf } from '../age.ts';
import { makeFolder } from '../files/folders.ts';
import { type Holder, isDeadOrUnwritten, Lease, type LeaseHost } from '../files/lease.ts';

/** Milliseconds without sound, after which a claim does not hold: its run may be waiting for this one. */
const STALLED_MS = 60_000;
/** Milliseconds between two touches of a claim. */
const TOUCH_MS = 1000;

export interface Claim {
  /** Tells the other runs that sound has come. */
  touch(): void;
  release(): void;
}

/**
 * Of two runs at once, the second waits for the sound of the first. A claim without its process, or without progress, is
 * taken over.
 */
export class Claims {
  readonly #folder: string;
  readonly #host: LeaseHost;

  constructor(folder: string, host: LeaseHost) {
    this.#folder = folder;
    this.#host = host;
  }

  /** @returns `undefined` where no claim can be made, which costs one request at most */
  async take(key: string, signal: AbortSignal): Promise<Claim | undefined> {
    const path = join(this.#folder, `${key}.claim`);
    for (const isSecondTry of [false, true]) {
      try {
        makeFolder(this.#folder);
        return claimOf(await Lease.wait(path, this.#host, { isOver, signal }));
      } catch {
        signal.throwIfAborted();
        // A link or a pipe in the place of a claim goes; a folder stays.
        if (isSecondTry || !isRemoved(path)) return undefined;
      }
    }
    return undefined;
  }
}

/** In this process, no other call makes the entry. */
function isOver(holder: Holder, host: LeaseHost): boolean {
  const isMine = holder.owner?.pid === host.pid && holder.owner.realm === host.realm;
  return isMine || holder.age > STALLED_MS || isDeadOrUnwritten(holder, host);
}

function claimOf(lease: Lease): Claim {
  let touched = Date.now();
  return {
    touch() {
      if (ageOf(touched) < TOUCH_MS) return;
      touched = Date.now();
      lease.touch();
    },
    release: () => lease[Symbol.dispose](),
  };
}

function isRemoved(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}
