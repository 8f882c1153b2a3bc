import { type FileHandle, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PcmFormat, Speech } from '../audio/pcm.ts';
import { overheadBytes } from '../audio/wav-header.ts';
import { closeEntry, isEntryName, type OpenEntry, openEntry, placeOf, readSamples } from './entry.ts';
import { EntryFile, Keeping } from './entry-writer.ts';
import { type Home, isOwnFolder, objectionTo, reasonOf } from './folder.ts';
import { evict, sweepParts, tally } from './inventory.ts';

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
    this.#used.add(key, overheadBytes(format, bytes) + bytes);
    const now = new Date();
    // Where that is not allowed, as on a medium that is read-only, nothing will be evicted either.
    await file.utimes(now, now).catch(() => {});
    this.#files.add(file);
    const pcm = readSamples(entry, async () => {
      this.#files.delete(file);
      await closeEntry(file);
    });
    return { format, bytes, pcm };
  }

  /** Whether {@link get} would find it. Does not count as use. */
  async has(key: string): Promise<boolean> {
    const entry = await this.#find(key);
    if (entry) await closeEntry(entry.file);
    return entry !== undefined;
  }

  /** Begins an entry; `undefined` where nothing is kept any more. */
  put(key: string, format: PcmFormat): Keeping | undefined {
    if (this.#off) return undefined;
    if (!this.#swept) this.#tidy(async () => sweepParts(this.#home.folder, Date.now()));
    this.#swept = true;
    const keeping: Keeping = new Keeping(new EntryFile(this.#home, key, format), {
      hasRoom: (bytes) => this.#hasRoom(bytes),
      publishing: (bytes) => this.#used.add(key, bytes),
      published: (bytes) => this.#count(bytes),
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

  /** False, with a warning, once this run has filled the cache: a further entry would push out one of its own. */
  #hasRoom(bytes: number): boolean {
    const isKeepable = bytes <= Math.min(this.#limit, MAX_ENTRY_BYTES);
    if (isKeepable && !this.#used.hasRoom(bytes)) this.#stop(FULL);
    return isKeepable && !this.#off;
  }

  async #count(bytes: number): Promise<void> {
    if (!(await tally(this.#home.folder, bytes, this.#maxBytes * SLACK))) return;
    // Bounds what is written while an earlier eviction still runs.
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

/** What the system says where nothing is, or a link: what lies behind one is none of the cache's. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * The entry of a key, open. One that is damaged is removed, and is none.
 * @throws what the system says where one may be, and nobody can look at it
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

/** Names of the entries of one key: one, unless two runs got different sound at the same time. */
async function namesIn({ folder, uid }: Home, prefix: string): Promise<string[]> {
  try {
    if (!(await isOwnFolder(folder, uid))) return [];
    return (await readdir(folder)).filter((name) => name.startsWith(prefix) && isEntryName(name));
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return ABSENT.has((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Counts the entries that one run has read and made. They never exceed what eviction leaves: the run would evict its own
 * beginning, which its repetition asks for first.
 */
export class Used {
  readonly #limit: number;
  readonly #keys = new Set<string>();
  #bytes = 0;

  /** @param limit what eviction leaves, in bytes */
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
