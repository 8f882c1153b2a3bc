import { readdirSync } from 'node:fs';
import { type FileHandle, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type PcmFormat, type Speech, secondsOf } from '../audio/pcm.ts';
import { overheadBytes } from '../audio/wav-header.ts';
import { codeOf } from '../error.ts';
import { closeEntry, isEntryName, type OpenEntry, openEntry, placeOf, readEntry } from './entry.ts';
import { EntryDraft, EntryFile } from './entry-writer.ts';
import { type Home, isOwnFolder, objectionTo, reasonOf } from './folder.ts';
import { evict, sweepParts, tally } from './inventory.ts';

/** Bytes. Larger sizes in a WAV header may be placeholders. */
const MAX_ENTRY_BYTES = 2 ** 30;

/** The part of the cache's size that may be written before the next eviction. */
const SLACK = 1 / 16;

const FULL =
  'this run has filled the cache: what follows is not kept, and paid for again if it is repeated (cacheSize in your own config makes room)';

export interface StoreOptions extends Home {
  readonly maxBytes: number;
  /** The store calls it once for each reason. */
  readonly warn: (text: string) => void;
}

/** @returns `undefined`, after a warning, for a folder that cannot hold a cache */
export async function openStore(options: StoreOptions): Promise<Store | undefined> {
  const objection = await objectionTo(options);
  if (objection === undefined) return new Store(options);
  options.warn(notKept(options.folder, objection));
  return undefined;
}

/**
 * Keeps segments by key. Several runs may share the folder. An entry appears in one step, and every byte is checked before
 * it is read.
 */
export class Store {
  readonly #home: Home;
  readonly #maxBytes: number;
  readonly #limit: number;
  readonly #used: Used;
  readonly #warn: StoreOptions['warn'];
  #off = false;
  #isUnread = false;
  #swept = false;
  #tidying: Promise<void> = Promise.resolve();
  readonly #files = new Set<FileHandle>();
  readonly #drafts = new Set<EntryDraft>();

  constructor({ folder, uid, maxBytes, warn }: StoreOptions) {
    this.#home = { folder, uid };
    this.#maxBytes = maxBytes;
    this.#limit = maxBytes * (1 - SLACK);
    this.#used = new Used(this.#limit);
    this.#warn = warn;
  }

  /** Getting an entry counts as use. Its file is open until `pcm` ends or is left, or the store closes. */
  async get(key: string): Promise<Speech | undefined> {
    const entry = await this.#find(key);
    if (!entry) return undefined;
    const { file, format, bytes } = entry;
    this.#used.add(key, overheadBytes(format, bytes) + bytes);
    const now = new Date();
    // The time cannot be set on a read-only medium, where nothing is evicted.
    await file.utimes(now, now).catch(() => {});
    this.#files.add(file);
    const pcm = readEntry(entry, async () => {
      this.#files.delete(file);
      await closeEntry(file);
    });
    return { format, bytes, pcm };
  }

  /**
   * A look does not count as use.
   * @returns the seconds of the sound; `undefined` without an entry
   */
  async secondsOf(key: string): Promise<number | undefined> {
    const entry = await this.#find(key);
    if (!entry) return undefined;
    await closeEntry(entry.file);
    return secondsOf(entry.format, entry.bytes);
  }

  /** True if there is a file with the name of the entry. */
  mayHave(key: string): boolean {
    const { shard, prefix } = placeOf(key);
    try {
      return readdirSync(join(this.#home.folder, shard)).some((name) => name.startsWith(prefix));
    } catch {
      return false;
    }
  }

  /** @returns `undefined` where nothing is kept */
  put(key: string, format: PcmFormat): EntryDraft | undefined {
    if (this.#off) return undefined;
    if (!this.#swept) this.#tidy(async () => sweepParts(this.#home.folder));
    this.#swept = true;
    const draft: EntryDraft = new EntryDraft(new EntryFile(this.#home, key, format), {
      hasRoom: (bytes) => this.#hasRoom(bytes),
      publishing: (bytes) => this.#used.add(key, bytes),
      published: (bytes) => this.#count(bytes),
      failed: (error) => this.#fail(error),
      ended: () => void this.#drafts.delete(draft),
    });
    this.#drafts.add(draft);
    return draft;
  }

  /** Waits until all entries are written. */
  async close(): Promise<void> {
    await Promise.all([...this.#drafts].map((draft) => draft.discard()));
    await Promise.all([...this.#files].map(closeEntry));
    await this.#tidying;
  }

  /** An entry that cannot be read is a miss: its segment is requested again. */
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

  /** False, with a warning, if one more entry would evict one of this run. */
  #hasRoom(bytes: number): boolean {
    const isKeepable = bytes <= Math.min(this.#limit, MAX_ENTRY_BYTES);
    if (isKeepable && !this.#used.hasRoom(bytes)) this.#stop(FULL);
    return isKeepable && !this.#off;
  }

  async #count(bytes: number): Promise<void> {
    if (!tally(this.#home, bytes, this.#maxBytes * SLACK)) return;
    // Waiting bounds what is written during an eviction.
    await this.#tidying;
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

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * Finds an entry, and removes a damaged one.
 * @throws the system's error for an entry that cannot be read
 */
async function findEntry(home: Home, key: string): Promise<OpenEntry | undefined> {
  const { shard, prefix } = placeOf(key);
  const folder = join(home.folder, shard);
  for (const name of await namesIn({ ...home, folder }, prefix)) {
    const path = join(folder, name);
    try {
      const entry = await openEntry(path, name, key);
      if (entry) return entry;
    } catch (error) {
      if (isAbsent(error)) continue;
      throw error;
    }
    await rm(path, { force: true }).catch(() => {});
  }
  return undefined;
}

/** A key has two entries if two runs got different sound. */
async function namesIn({ folder, uid }: Home, prefix: string): Promise<string[]> {
  try {
    if (!isOwnFolder(folder, uid)) return [];
    return (await readdir(folder)).filter((name) => name.startsWith(prefix) && isEntryName(name));
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return ABSENT.has(codeOf(error));
}

/** What a run has read and made. All of it fits into the cache, so that a run does not evict its own beginning. */
export class Used {
  readonly #limit: number;
  readonly #keys = new Set<string>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  hasRoom(bytes: number): boolean {
    return this.#bytes + bytes <= this.#limit;
  }

  add(key: string, bytes: number): void {
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#bytes += bytes;
  }
}
