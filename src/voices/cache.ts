import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, noSegmentFolder, segmentFolder } from '../kit/folders.ts';
import type { RunContext } from '../kit/host.ts';
import { type Holder, isDeadOrUnwritten, Lease, type LeaseHost } from '../kit/lock.ts';
import { unlessAborted } from '../kit/wait.ts';
import { ageOf } from '../kit/words.ts';
import { keyOf } from '../options/values.ts';
import type { Speech } from '../sound/pcm.ts';
import { type Utterance, voiceInKeys } from '../sound/voice.ts';
import { type EntryDraft, ownerOf } from './cache-entry.ts';
import { openStore, type Store } from './cache-store.ts';

/** Milliseconds without sound after which a claim no longer holds: its run may itself be waiting for this one. */
const STALLED_MS = 60_000;
/** Milliseconds between two touches of a claim. */
const TOUCH_MS = 1000;

interface Claim {
  /** Tells the other runs that sound has come. */
  touch(): void;
  release(): void;
}

/**
 * Claims a cache entry, so that of two runs the second waits for the sound of the first. A claim whose process has ended, or
 * makes no progress, is taken over.
 * @returns `undefined` if no claim can be made, which costs one extra request at most
 */
export async function takeClaim(
  { folder, key }: { readonly folder: string; readonly key: string },
  host: LeaseHost,
  signal: AbortSignal,
): Promise<Claim | undefined> {
  const path = join(folder, `${key}.claim`);
  for (const isSecondTry of [false, true]) {
    try {
      makeFolder(folder);
      return claimOf(await Lease.wait(path, host, { isOver, signal }));
    } catch {
      signal.throwIfAborted();
      // Remove a link or a pipe at the path of the claim; a folder stays.
      if (isSecondTry || !isRemoved(path)) return undefined;
    }
  }
  return undefined;
}

/** True if a claim no longer holds. One of this process is left over: `Cache` has a single call make an entry. */
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

/** @returns `undefined`, after a warning, for a user without a folder that can hold a cache */
export async function openCache(maxBytes: number, { host, notices }: RunContext): Promise<Cache | undefined> {
  const warn = (text: string) => notices.warnLater(text);
  const folder = segmentFolder(host);
  if (folder === undefined) {
    warn(`segments are not kept: ${noSegmentFolder().message}`);
    return undefined;
  }
  const store = await openStore({ folder, uid: host.uid, maxBytes, warn });
  return store && new Cache(folder, store, host);
}

export type Keyed = Pick<Utterance, 'text' | 'voice' | 'fields'>;

/** The cache of a run, for all its voices. Sound that several calls ask for at once is made once. */
export class Cache {
  readonly #folder: string;
  readonly #store: Store;
  readonly #host: LeaseHost;
  readonly #making = new Map<string, PendingEntry>();

  constructor(folder: string, store: Store, host: LeaseHost) {
    this.#folder = folder;
    this.#store = store;
    this.#host = host;
  }

  /**
   * Returns the entry, or else the sound of `make`, which becomes the entry once it has been read to its end. Other calls
   * for the same segment wait for that, those of this run in their order.
   */
  async get(
    asked: Keyed,
    make: () => Promise<Speech | undefined>,
    signal: AbortSignal,
  ): Promise<Speech | undefined> {
    const key = cacheKey(asked);
    const making = await this.#begin(key, signal);
    try {
      const kept = await this.#find(key, making, signal);
      const speech = kept ?? (await make());
      if (speech && !kept) {
        const owner = ownerOf(asked.voice.identity);
        const entry = this.#store.put({ key, format: speech.format, owner });
        return { ...speech, pcm: copied(speech, entry, making) };
      }
      making.end();
      return speech;
    } catch (error) {
      making.end();
      throw error;
    }
  }

  /**
   * Looks at an entry, which does not count as its use.
   * @returns the seconds of the sound; `undefined` if it is not cached
   */
  secondsOf(asked: Keyed): Promise<number | undefined> {
    return this.#store.secondsOf(cacheKey(asked));
  }

  /** True if the entry seems to be cached. Returns at once, because only names are looked at. */
  mayHave(asked: Keyed): boolean {
    return this.#store.mayHave(cacheKey(asked));
  }

  /** Waits until all entries are written. */
  close(): Promise<void> {
    return this.#store.close();
  }

  async #begin(key: string, signal: AbortSignal): Promise<PendingEntry> {
    for (let other = this.#making.get(key); other; other = this.#making.get(key))
      await unlessAborted(other.ended, signal);
    const making = new PendingEntry(signal, () => void this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }

  async #find(key: string, making: PendingEntry, signal: AbortSignal): Promise<Speech | undefined> {
    const kept = await this.#store.get(key);
    if (kept) return kept;
    making.claim = await takeClaim({ folder: this.#folder, key }, this.#host, signal);
    return await this.#store.get(key);
  }
}

/**
 * An entry that is being made. Other calls for its key wait until it ends, at the latest when the signal aborts.
 */
class PendingEntry {
  claim: Claim | undefined;
  readonly ended: Promise<void>;
  readonly #signal: AbortSignal;
  readonly #onEnd: () => void;
  #resolve = () => {};
  #isOver = false;

  constructor(signal: AbortSignal, onEnd: () => void) {
    this.#signal = signal;
    this.#onEnd = onEnd;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    signal.addEventListener('abort', this.end);
  }

  readonly end = () => {
    this.claim?.release();
    this.claim = undefined;
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.end);
    this.#onEnd();
    this.#resolve();
  };
}

/** Passes the sound on to its reader, and writes it to the entry. */
async function* copied(
  { pcm, bytes, isOneTake }: Speech,
  entry: EntryDraft | undefined,
  making: PendingEntry,
): AsyncGenerator<Uint8Array> {
  let delivered = 0;
  try {
    for await (const piece of pcm) {
      entry?.write(piece);
      yield piece;
      making.claim?.touch();
      delivered += piece.length;
    }
    const isWhole = bytes === undefined || bytes === delivered;
    // Do not cache sound that mixes two renderings.
    if (isWhole && (isOneTake?.() ?? true)) await entry?.publish();
  } finally {
    await entry?.discard();
    making.end();
  }
}

/** Returns a SHA-256 in hex. JSON separates the parts, and is unambiguous even for broken UTF-16. */
export function cacheKey({ text, voice, fields }: Keyed): string {
  const values = keyOf({ ...fields, speaker: voiceInKeys(voice) }, 'voice');
  return hash('sha256', JSON.stringify([voice.identity, values, text]));
}
