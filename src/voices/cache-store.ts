import {
  closeSync,
  type Dirent,
  fstatSync,
  ftruncateSync,
  lstatSync,
  readdirSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, ExitCode, TtsError } from '../kit/error.ts';
import { belongsToUser, openOwn } from '../kit/guard.ts';
import { yieldToEventLoop } from '../kit/wait.ts';
import { ageOf } from '../kit/words.ts';
import { overheadBytes } from '../sound/encode/wav.ts';
import { type Speech, secondsOf } from '../sound/pcm.ts';
import {
  type CacheRoot,
  closeEntry,
  EntryDraft,
  type EntryFacts,
  findEntry,
  keyParts,
  makerIn,
  type OpenEntry,
  readEntry,
} from './cache-entry.ts';

/** Bytes. A larger size in a WAV header may be a placeholder. */
const MAX_ENTRY_BYTES = 2 ** 30;

/** The share of the cache's size that may be written before the next eviction. */
const SLACK = 1 / 16;

const FULL =
  'this run has filled the cache: the rest of its sound is not cached, and costs again when it is repeated (raise cacheSize in your own config)';

export interface StoreOptions extends CacheRoot {
  readonly maxBytes: number;
  /** Called once for each reason. */
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
 * Stores the sound of segments by key. Several runs may share the folder. An entry appears in one step, and every byte is
 * checked before it is read.
 */
export class Store {
  readonly #root: CacheRoot;
  readonly #maxBytes: number;
  readonly #limit: number;
  /** Keys that this run has read or written. They must fit into the cache together: a run never evicts its own entries. */
  readonly #used = new Set<string>();
  #usedBytes = 0;
  readonly #warn: StoreOptions['warn'];
  #off = false;
  #isUnread = false;
  #swept = false;
  #tidying: Promise<void> = Promise.resolve();
  readonly #files = new Set<FileHandle>();
  readonly #drafts = new Set<EntryDraft>();

  constructor({ folder, uid, maxBytes, warn }: StoreOptions) {
    this.#root = { folder, uid };
    this.#maxBytes = maxBytes;
    this.#limit = maxBytes * (1 - SLACK);
    this.#warn = warn;
  }

  /** Returns an entry, which counts as use. Its file stays open until `pcm` ends, its reader stops or the store closes. */
  async get(key: string): Promise<Speech | undefined> {
    const entry = await this.#find(key);
    if (!entry) return undefined;
    const { file, format, bytes } = entry;
    this.#use(key, overheadBytes(format, bytes) + bytes);
    const now = new Date();
    // This fails on a read-only medium, where nothing is evicted.
    await file.utimes(now, now).catch(() => {});
    this.#files.add(file);
    const pcm = readEntry(entry, async () => {
      this.#files.delete(file);
      await closeEntry(file);
    });
    return { format, bytes, pcm };
  }

  /**
   * Returns the length of the sound. This does not count as use.
   * @returns seconds; `undefined` without an entry
   */
  async secondsOf(key: string): Promise<number | undefined> {
    const entry = await this.#find(key);
    if (!entry) return undefined;
    await closeEntry(entry.file);
    return secondsOf(entry.format, entry.bytes);
  }

  /** True if there is a file with the name of the entry. */
  mayHave(key: string): boolean {
    const { shard, prefix } = keyParts(key);
    try {
      return readdirSync(join(this.#root.folder, shard)).some((name) => name.startsWith(prefix));
    } catch {
      return false;
    }
  }

  /** @returns `undefined` if the cache is off */
  put(facts: EntryFacts): EntryDraft | undefined {
    if (this.#off) return undefined;
    if (!this.#swept) this.#tidy(async () => sweepParts(this.#root.folder));
    this.#swept = true;
    const draft: EntryDraft = new EntryDraft(this.#root, facts, {
      hasRoom: (bytes) => this.#hasRoom(bytes),
      publishing: (bytes) => this.#use(facts.key, bytes),
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

  /** An entry that cannot be read is a cache miss: its segment is requested again. */
  async #find(key: string): Promise<OpenEntry | undefined> {
    try {
      return await findEntry(this.#root, key);
    } catch (error) {
      if (!this.#isUnread)
        this.#warn(`the segments in ${this.#root.folder} cannot be read: ${reasonOf(error)}`);
      this.#isUnread = true;
      return undefined;
    }
  }

  #use(key: string, bytes: number): void {
    if (this.#used.has(key)) return;
    this.#used.add(key);
    this.#usedBytes += bytes;
  }

  /** False if the entry is too large for the cache, or, with a warning, if it would evict another entry of this run. */
  #hasRoom(bytes: number): boolean {
    const isKeepable = bytes <= Math.min(this.#limit, MAX_ENTRY_BYTES);
    if (isKeepable && this.#usedBytes + bytes > this.#limit) this.#stop(FULL);
    return isKeepable && !this.#off;
  }

  async #count(bytes: number): Promise<void> {
    if (!tally(this.#root, bytes, this.#maxBytes * SLACK)) return;
    // Waiting limits the bytes that are written during an eviction.
    await this.#tidying;
    this.#tidy(() => evict(this.#root.folder, this.#limit));
  }

  #tidy(action: () => Promise<void>): void {
    this.#tidying = this.#tidying.then(action).catch((error) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#stop(notKept(this.#root.folder, reasonOf(error)));
  }

  #stop(why: string): void {
    if (!this.#off) this.#warn(why);
    this.#off = true;
  }
}

function notKept(folder: string, reason: string): string {
  return `segments are not kept in ${folder}: ${reason}`;
}

/** The name of an entry's folder: the first byte of its key. */
const SHARD = /^[0-9a-f]{2}$/;
const LEFTOVER = /^(?:entry\.[0-9a-f-]{36}\.part|[0-9a-f]{64}\.claim)$/;

/** @returns the reason why a folder cannot hold a cache; `undefined` also for a missing folder */
async function objectionTo({ folder, uid }: CacheRoot): Promise<string | undefined> {
  try {
    const found = await stat(folder);
    if (!found.isDirectory()) return 'it is not a folder';
    return belongsToUser(found, uid) ? undefined : 'it belongs to another user';
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT') return `it cannot be read (${code})`;
    // Root must not make a folder that its user could not use.
    return uid === 0 && dirname(folder) !== folder
      ? objectionTo({ folder: dirname(folder), uid })
      : undefined;
  }
}

/** The reason in the system's words, such as `no space left on device`. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
}

interface CacheFile {
  readonly path: string;
  readonly bytes: number;
  /** The last read or write, in milliseconds since 1970. */
  readonly usedAt: number;
}

/** Lists the entries of one sub-folder at a time. To read a whole folder takes a fifth of the time of a look-up per file. */
async function* listEntries(folder: string): AsyncGenerator<CacheFile[]> {
  for (const shard of listShards(folder)) {
    yield files(shard, (name) => makerIn(name) !== undefined);
    await yieldToEventLoop();
  }
}

function listParts(folder: string): CacheFile[] {
  return files(folder, (name) => LEFTOVER.test(name));
}

function listShards(folder: string): string[] {
  return read(folder)
    .filter((found) => found.isDirectory() && SHARD.test(found.name))
    .map(({ name }) => join(folder, name));
}

function files(folder: string, isOurs: (name: string) => boolean): CacheFile[] {
  return read(folder)
    .filter((found) => found.isFile() && isOurs(found.name))
    .flatMap(({ name }) => {
      const path = join(folder, name);
      // Another run may have removed the file.
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found ? [{ path, bytes: found.size, usedAt: found.mtimeMs }] : [];
    });
}

function read(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Milliseconds without a write after which the writer counts as dead. */
const LEFT_BEHIND = 3_600_000;

/** Files removed in one tick of the event loop. */
const BATCH = 64;

async function evict(folder: string, limit: number): Promise<void> {
  const entries: CacheFile[] = [];
  for await (const found of listEntries(folder)) entries.push(...found);
  let excess = entries.reduce((sum, { bytes }) => sum + bytes, 0) - limit;
  if (excess <= 0) return;
  const now = Date.now();
  entries.sort((a, b) => ageOf(b.usedAt, now) - ageOf(a.usedAt, now));
  for (const [i, { path, bytes }] of entries.entries()) {
    if (excess <= 0) return;
    rmSync(path, { force: true });
    excess -= bytes;
    if (i % BATCH === BATCH - 1) await yieldToEventLoop();
  }
}

/** Removes the unfinished entries of dead runs. */
function sweepParts(folder: string): void {
  for (const { path, usedAt } of listParts(folder))
    if (ageOf(usedAt) > LEFT_BEHIND) rmSync(path, { force: true });
}

const TALLY = 'tally';

/** Bytes of entries that each byte of the tally stands for. */
const UNIT_BYTES = 4096;

/**
 * Counts the bytes that all runs write, by the length of a file to which several processes can append.
 * @returns true each time that `limit` bytes have been written
 * @throws TtsError (usage) if the tally is a link or no file; the system's error
 */
function tally({ folder, uid }: CacheRoot, bytes: number, limit: number): boolean {
  const fd = openOwn(join(folder, TALLY), 'O_APPEND', uid, 0o600);
  try {
    writeSync(fd, Buffer.alloc(Math.ceil(bytes / UNIT_BYTES)));
    if (fstatSync(fd).size * UNIT_BYTES < limit) return false;
    ftruncateSync(fd);
    return true;
  } finally {
    closeSync(fd);
  }
}

export interface EntryTotals {
  readonly entries: number;
  readonly bytes: number;
}

/** Selects entries; without any field, all of them. */
export interface Selection {
  /** The least milliseconds since the last use. */
  readonly unusedFor?: number | undefined;
  /** From `makersAt`. */
  readonly makers?: ReadonlySet<string> | undefined;
}

/** @throws TtsError (output) */
export async function measureCache(folder: string, selection: Selection = {}): Promise<EntryTotals> {
  return total(folder, () => {}, selection).catch((cause) => {
    throw inaccessible('read', folder, cause);
  });
}

/**
 * Removes entries. Without a selection, a run that is writing now loses its unfinished ones.
 * @throws TtsError (output)
 */
export async function clearCache(folder: string, selection: Selection = {}): Promise<EntryTotals> {
  const isAll = selection.makers === undefined && selection.unusedFor === undefined;
  const removed = isAll ? clear(folder) : total(folder, remove, selection);
  return removed.catch((cause) => {
    throw inaccessible('empty', folder, cause);
  });
}

const remove = ({ path }: CacheFile) => rmSync(path, { force: true });

async function clear(folder: string): Promise<EntryTotals> {
  const removed = await total(folder, remove);
  const parts = listParts(folder);
  for (const { path } of parts) rmSync(path, { force: true });
  rmSync(join(folder, TALLY), { force: true });
  for (const shard of listShards(folder)) removeIfEmpty(shard);
  return { ...removed, bytes: parts.reduce((sum, { bytes }) => sum + bytes, removed.bytes) };
}

function inaccessible(action: 'read' | 'empty', folder: string, cause: unknown): TtsError {
  return new TtsError(`cannot ${action} ${folder}`, {
    exitCode: ExitCode.output,
    hint: 'check its permissions, or name another folder with TTS_CACHE_DIR',
    cause,
  });
}

async function total(
  folder: string,
  each: (entry: CacheFile) => void,
  { makers, unusedFor = 0 }: Selection = {},
): Promise<EntryTotals> {
  const found = { entries: 0, bytes: 0 };
  for await (const entries of listEntries(folder)) {
    for (const entry of entries) {
      const maker = makerIn(basename(entry.path)) ?? '';
      if (ageOf(entry.usedAt) < unusedFor || makers?.has(maker) === false) continue;
      each(entry);
      found.entries += 1;
      found.bytes += entry.bytes;
    }
  }
  return found;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const code = codeOf(error);
    // Another run has written there, or another program keeps a file there.
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}
