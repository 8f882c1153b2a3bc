import { lstatSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ageOf } from '../age.ts';
import { codeOf } from '../error.ts';
import { makeFolder } from '../files/folders.ts';
import { readOwn } from '../files/own-file.ts';
import type { Writer } from '../files/part-name.ts';

const LOOK_MS = 100;
/** Milliseconds without sound, after which a claim does not hold: its run may be waiting for this one. */
const STALLED_MS = 60_000;
/** Milliseconds that an owner takes to write its claim. */
const UNWRITTEN_MS = 1000;
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
  readonly #owner: Writer;
  readonly #mark: string;

  constructor(folder: string, owner: Writer) {
    this.#folder = folder;
    this.#owner = owner;
    this.#mark = JSON.stringify([owner.pid, owner.realm]);
  }

  /** @returns `undefined` where no claim can be made */
  async take(key: string, signal: AbortSignal): Promise<Claim | undefined> {
    const path = join(this.#folder, `${key}.claim`);
    for (;;) {
      try {
        makeFolder(this.#folder);
        writeFileSync(path, this.#mark, { flag: 'wx', mode: 0o600 });
        return this.#claim(path);
      } catch (error) {
        const isTaken = codeOf(error) === 'EEXIST';
        if (isTaken && !this.#isOver(path)) {
          await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
          continue;
        }
        const isFree = quietly(() => rmSync(path, { force: true }));
        if (!isTaken || !isFree) return undefined;
      }
    }
  }

  #claim(path: string): Claim {
    let touched = Date.now();
    return {
      touch() {
        const now = new Date();
        if (ageOf(touched, now.getTime()) < TOUCH_MS) return;
        touched = now.getTime();
        quietly(() => utimesSync(path, now, now));
      },
      release: () =>
        void quietly(() => {
          if (readOwn(path, this.#owner.uid) === this.#mark) rmSync(path, { force: true });
        }),
    };
  }

  #isOver(path: string): boolean {
    let age = 0;
    try {
      age = ageOf(lstatSync(path).mtimeMs);
      if (age > STALLED_MS) return true;
      const text = readOwn(path, this.#owner.uid);
      const [pid, realm] = JSON.parse(text) as [number, string];
      // In this process, no other call makes the entry.
      return text === this.#mark || (realm === this.#owner.realm && !this.#owner.isRunning(pid));
    } catch {
      return age > UNWRITTEN_MS;
    }
  }
}

/** A claim that is lost costs one request. */
function quietly(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
