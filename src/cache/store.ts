import type { FileHandle } from 'node:fs/promises';
import { releasing } from '../audio/passing.ts';
import type { PcmFormat, Speech } from '../audio/pcm.ts';
import { Draft } from './draft.ts';
import { closeEntry, type OpenEntry, readSamples } from './entry.ts';
import { evict, sweepParts } from './evict.ts';
import { findEntry } from './find-entry.ts';
import { type Home, objectionTo, reasonOf } from './folder.ts';
import { Keeping } from './keeping.ts';
import { tally } from './tally.ts';
import { Used } from './used.ts';

/** The size of a WAV is told from a placeholder for certain below this. */
const MAX_ENTRY_BYTES = 2 ** 30;

/** The part of the cache that may be written before somebody looks whether it has become too large. */
const SLACK = 1 / 16;

const FULL =
  'this run has filled the cache: what follows is not kept, and paid for again if it is repeated (cacheSize in your own config makes room)';

export interface StoreOptions extends Home {
  /** Beyond this the least recently used entries go. */
  readonly maxBytes: number;
  /** Hears, once of each, why segments are not kept, or not read. */
  readonly warn: (text: string) => void;
}

/** @returns `undefined`, after a warning, where the folder is no place for a cache */
export async function openStore(options: StoreOptions): Promise<Store | undefined> {
  const objection = await objectionTo(options);
  if (objection === undefined) return new Store(options);
  options.warn(notKept(options.folder, objection));
  return undefined;
}

/**
 * Segments by their keys, on disk; several runs may use one folder at the same time. An entry is whole or absent: it is
 * written under another name, and read only after every byte was checked.
 */
export class Store {
  readonly #home: Home;
  readonly #maxBytes: number;
  /** In bytes: what a look at the whole cache leaves. */
  readonly #limit: number;
  readonly #used: Used;
  readonly #warn: StoreOptions['warn'];
  #off = false;
  #isUnread = false;
  #swept = false;
  #tidying: Promise<void> = Promise.resolve();
  readonly #files = new Set<FileHandle>();
  readonly #drafts = new Set<Keeping>();

  constructor({ folder, uid, maxBytes, warn }: StoreOptions) {
    this.#home = { folder, uid };
    this.#maxBytes = maxBytes;
    this.#limit = maxBytes * (1 - SLACK);
    this.#used = new Used(this.#limit);
    this.#warn = warn;
  }

  /** Counts as use. A file is open until `pcm` was read to its end or left, or the store is closed. */
  async get(key: string): Promise<Speech | undefined> {
    const entry = await this.#find(key);
    if (!entry) return undefined;
    const { file, format, bytes } = entry;
    this.#used.add(key, bytes);
    const now = new Date();
    // Where that is not allowed, as on a medium that is read-only, nothing will be evicted either.
    await file.utimes(now, now).catch(() => {});
    this.#files.add(file);
    const close = async () => {
      this.#files.delete(file);
      await closeEntry(file);
    };
    return { format, bytes, pcm: releasing(readSamples(entry), close) };
  }

  /** Whether {@link get} would find it. Does not count as use. */
  async has(key: string): Promise<boolean> {
    const entry = await this.#find(key);
    if (entry) await closeEntry(entry.file);
    return entry !== undefined;
  }

  /** Begins an entry; `undefined` where nothing is kept any more. */
  put(key: string, format: PcmFormat): Keeping | undefined {
    if (this.#used.isFull) this.#stop(FULL);
    if (this.#off) return undefined;
    if (!this.#swept) this.#tidy(async () => sweepParts(this.#home.folder, Date.now()));
    this.#swept = true;
    const keeping: Keeping = new Keeping(new Draft(this.#home, key, format), {
      limit: Math.min(this.#limit, MAX_ENTRY_BYTES),
      published: (bytes) => this.#count(key, bytes),
      failed: (error) => this.#fail(error),
      ended: () => void this.#drafts.delete(keeping),
    });
    this.#drafts.add(keeping);
    return keeping;
  }

  /** Lets go of what nobody read to its end, and resolves when nothing is under way any more. */
  async close(): Promise<void> {
    await Promise.all([...this.#drafts].map((keeping) => keeping.discard()));
    await Promise.all([...this.#files].map(closeEntry));
    await this.#tidying;
  }

  /** None where the system does not let anybody look; then its sound is paid for again, which somebody should know. */
  async #find(key: string): Promise<OpenEntry | undefined> {
    try {
      return await findEntry(this.#home, key);
    } catch (error) {
      if (!this.#isUnread)
        this.#warn(`the segments in ${this.#home.folder} cannot be read: ${reasonOf(error)}`);
      this.#isUnread = true;
      return undefined;
    }
  }

  async #count(key: string, bytes: number | undefined): Promise<void> {
    if (bytes === undefined) return;
    this.#used.add(key, bytes);
    if (await tally(this.#home.folder, bytes, this.#maxBytes * SLACK))
      this.#tidy(() => evict(this.#home.folder, this.#limit));
  }

  #tidy(action: () => Promise<void>): void {
    this.#tidying = this.#tidying.then(action).catch((error) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#stop(notKept(this.#home.folder, reasonOf(error)));
  }

  #stop(why: string): void {
    if (!this.#off) this.#warn(why);
    this.#off = true;
  }
}

function notKept(folder: string, reason: string): string {
  return `segments are not kept in ${folder}: ${reason}`;
}
