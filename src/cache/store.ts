import { type FileHandle, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { releasing } from '../audio/passing.ts';
import type { PcmFormat, Speech } from '../audio/pcm.ts';
import { Draft } from './draft.ts';
import { closeEntry, type OpenEntry, openEntry, readSamples } from './entry.ts';
import { isEntryName, placeOf } from './entry-name.ts';
import { evict, sweepParts } from './evict.ts';
import { type Home, isOwnFolder, objectionTo } from './folder.ts';
import { Keeping } from './keeping.ts';
import { tally } from './tally.ts';

/** The size of a WAV is told from a placeholder for certain below this. */
const MAX_ENTRY_BYTES = 2 ** 30;

/** The part of the cache that may be written before somebody looks whether it has become too large. */
const SLACK = 1 / 16;

export interface StoreOptions extends Home {
  /** Beyond this the least recently used entries go. */
  readonly maxBytes: number;
  /** Hears, once at most, why segments are not kept. */
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
  readonly #folder: string;
  readonly #uid: number | undefined;
  readonly #maxBytes: number;
  readonly #warn: StoreOptions['warn'];
  #off = false;
  #swept = false;
  #tidying: Promise<void> = Promise.resolve();
  readonly #files = new Set<FileHandle>();
  readonly #drafts = new Set<Keeping>();

  constructor({ folder, uid, maxBytes, warn }: StoreOptions) {
    this.#folder = folder;
    this.#uid = uid;
    this.#maxBytes = maxBytes;
    this.#warn = warn;
  }

  /** Counts as use. A file is open until `pcm` was read to its end or left, or the store is closed. */
  async get(key: string): Promise<Speech | undefined> {
    const entry = await this.#find(key);
    if (!entry) return undefined;
    const { file, format, bytes } = entry;
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
    if (this.#off) return undefined;
    if (!this.#swept) this.#tidy(async () => sweepParts(this.#folder, Date.now()));
    this.#swept = true;
    const keeping: Keeping = new Keeping(new Draft({ folder: this.#folder, uid: this.#uid }, key, format), {
      limit: Math.min(this.#maxBytes * (1 - SLACK), MAX_ENTRY_BYTES),
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

  async #find(key: string): Promise<OpenEntry | undefined> {
    const { shard, prefix } = placeOf(key);
    const folder = join(this.#folder, shard);
    for (const name of await namesIn({ folder, uid: this.#uid }, prefix)) {
      const path = join(folder, name);
      const entry = await openEntry(path, name, key).catch(() => 'unopened' as const);
      if (entry === 'unopened') continue;
      if (entry) return entry;
      await rm(path, { force: true }).catch(() => {});
    }
    return undefined;
  }

  async #count(bytes: number | undefined): Promise<void> {
    const limit = this.#maxBytes * SLACK;
    if (bytes === undefined || !(await tally(this.#folder, bytes, limit))) return;
    this.#tidy(() => evict(this.#folder, this.#maxBytes - limit));
  }

  #tidy(action: () => Promise<void>): void {
    this.#tidying = this.#tidying.then(action).catch((error) => this.#fail(error));
  }

  #fail(error: unknown): void {
    if (!this.#off) this.#warn(notKept(this.#folder, reasonOf(error)));
    this.#off = true;
  }
}

/** Names of the entries of one key: one, unless two runs got different sound at the same time. */
async function namesIn({ folder, uid }: Home, prefix: string): Promise<string[]> {
  try {
    if (!(await isOwnFolder(folder, uid))) return [];
    return (await readdir(folder)).filter((name) => name.startsWith(prefix) && isEntryName(name));
  } catch {
    return [];
  }
}

function notKept(folder: string, reason: string): string {
  return `segments are not kept in ${folder}: ${reason}`;
}

/** What the system says reads `ENOSPC: no space left on device, write`. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
}
