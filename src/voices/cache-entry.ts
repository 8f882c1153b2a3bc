import { hash } from 'node:crypto';
import { constants, lstatSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { withoutEndSlashes } from '../kit/address.ts';
import { readAt, writeAt } from '../kit/descriptor.ts';
import { codeOf, ExitCode, TtsError } from '../kit/error.ts';
import { AtomicFile } from '../kit/file.ts';
import { makeFolder } from '../kit/folders.ts';
import { belongsToUser } from '../kit/guard.ts';
import { singleItem } from '../kit/wait.ts';
import { headerBytes, overheadBytes, padding, wavHeader } from '../sound/encode/wav.ts';
import { frameBytes, type PcmFormat } from '../sound/pcm.ts';
import { ByteReader } from '../sound/samples.ts';
import { beginsWav, readStart } from '../sound/wav.ts';

/** The folder of the cache, and the user who must own it. */
export interface CacheRoot {
  /** An absolute path. */
  readonly folder: string;
  /** The ID of the user; `undefined` on Windows. */
  readonly uid: number | undefined;
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * Finds an entry, and removes a damaged one.
 * @throws the system's error for an entry that cannot be read
 */
export async function findEntry(root: CacheRoot, key: string): Promise<OpenEntry | undefined> {
  const { shard, prefix } = keyParts(key);
  const folder = join(root.folder, shard);
  for (const name of await namesIn({ ...root, folder }, prefix)) {
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

/** Returns the names of a key's entries: several, if runs got different sound. */
async function namesIn({ folder, uid }: CacheRoot, prefix: string): Promise<string[]> {
  try {
    if (!isOfCache(folder, uid)) return [];
    return (await readdir(folder)).filter((name) => name.startsWith(prefix) && makerIn(name) !== undefined);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return ABSENT.has(codeOf(error));
}

const BLOCK_BYTES = 256 * 1024;

const HEAD_BYTES = 128;

/** Flags with which opening follows no link and does not wait for a pipe. Windows lacks the last two. */
const WARY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

interface Layout {
  readonly format: PcmFormat;
  readonly start: number;
  readonly bytes: number;
}

/** An entry whose file is open, so that it can be read even if another run removes it. */
export interface OpenEntry extends Layout {
  readonly path: string;
  readonly file: FileHandle;
}

/**
 * Opens an entry after a check of every byte.
 * @param name the file name of the entry
 * @returns `undefined` for a damaged or foreign file
 * @throws the system's error
 */
async function openEntry(path: string, name: string, key: string): Promise<OpenEntry | undefined> {
  const file = await open(path, WARY);
  try {
    const layout = await readLayout(file);
    if (layout && name.startsWith(nameStart(key, await checksum(file, layout, key))))
      return { ...layout, path, file };
  } catch {
    // The file has no header, or the disk cannot be read.
  }
  await closeEntry(file);
  return undefined;
}

/** Ignores errors: a file that was only read loses nothing. */
export async function closeEntry(file: FileHandle): Promise<void> {
  await file.close().catch(() => {});
}

async function readLayout(file: FileHandle): Promise<Layout | undefined> {
  const found = await file.stat();
  if (!found.isFile()) return undefined;
  const head = await readBlock(file, 0, Math.min(HEAD_BYTES, found.size));
  if (!beginsWav(head)) return undefined;
  const { format, size: bytes } = await readStart(new ByteReader(singleItem(head)));
  if (bytes === undefined) return undefined;
  const start = headerBytes(format, bytes);
  return start + bytes + padding(bytes) === found.size ? { format, start, bytes } : undefined;
}

/** Computes the checksum in the order of writing: first the samples, then the header. */
async function checksum(file: FileHandle, { start, bytes }: Layout, key: string): Promise<number> {
  let sum = checksumSeed(key);
  const end = start + bytes + padding(bytes);
  for (let at = start; at < end; at += BLOCK_BYTES)
    sum = crc32(await readBlock(file, at, Math.min(BLOCK_BYTES, end - at)), sum);
  return crc32(await readBlock(file, 0, start), sum);
}

/**
 * Yields whole frames.
 * @param close called at the end, or when the reader stops
 * @throws TtsError if the disk fails; the entry is removed
 */
export async function* readEntry(
  { file, path, format, start, bytes }: OpenEntry,
  close: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const frame = frameBytes(format);
  const block = Math.max(frame, BLOCK_BYTES - (BLOCK_BYTES % frame));
  const end = start + bytes;
  try {
    for (let at = start; at < end; at += block) yield await readBlock(file, at, Math.min(block, end - at));
  } catch (cause) {
    await rm(path, { force: true }).catch(() => {});
    throw new TtsError(`cannot read ${path}, which was whole a moment ago`, {
      exitCode: ExitCode.output,
      hint: 'try again (its text is then requested again), or use --no-cache',
      cause,
    });
  } finally {
    await close();
  }
}

async function readBlock(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const block = Buffer.allocUnsafe(length);
  await readAt(file, block, position);
  return block;
}

/** The file name of an entry: key, checksum, and maker of the sound. */
const ENTRY = /^[0-9a-f]{62}\.[0-9a-f]{8}\.(?<maker>[0-9a-f]{8})\.wav$/;

export function keyParts(key: string): { readonly shard: string; readonly prefix: string } {
  return { shard: key.slice(0, 2), prefix: `${key.slice(2)}.` };
}

function nameStart(key: string, checksum: number): string {
  return `${keyParts(key).prefix}${checksum.toString(16).padStart(8, '0')}.`;
}

/** @returns the maker in the name of an entry (a hash of its owner); `undefined` for the name of another file */
export function makerIn(name: string): string | undefined {
  return ENTRY.exec(name)?.groups?.maker;
}

/** @param owner from {@link ownerOf} */
function makerOf(owner: string): string {
  return hash('sha256', owner).slice(0, 8);
}

/** @returns the makers that an address may mean: a service, or a server at one of these addresses */
export function makersAt(address: string, servers: readonly string[]): ReadonlySet<string> {
  return new Set([address, `${address}/tts`, ...servers.map((each) => `server ${each}`)].map(makerOf));
}

/** Normalises an address: without a login, and without slashes at the end. */
export function addressOf(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return withoutEndSlashes(url.href);
}

/** Returns who makes a sound, without voice and model: the address of a service or server, otherwise the identity itself. */
export function ownerOf(identity: string): string {
  return /^server \S+/.exec(identity)?.[0] ?? identity;
}

/** The checksum begins with the key, so that sound under another key counts as damaged. */
function checksumSeed(key: string): number {
  return crc32(key);
}

/** True for a folder of the cache. A link is none: its target does not belong to the cache. */
function isOfCache(folder: string, uid: CacheRoot['uid']): boolean {
  const found = lstatSync(folder);
  return found.isDirectory() && belongsToUser(found, uid);
}

/** Bytes that are buffered before a write. */
const BATCH_BYTES = 128 * 1024;

/** The facts of an entry that are known before its sound. */
export interface EntryFacts {
  readonly key: string;
  readonly format: PcmFormat;
  /** From {@link ownerOf}. */
  readonly owner: string;
}

/** Callbacks by which a draft asks and tells its store. */
export interface DraftRules {
  readonly hasRoom: (bytes: number) => boolean;
  /** Called before the entry gets its name. */
  readonly publishing: (bytes: number) => void;
  /** Called when the entry has its name; not if the cache was emptied meanwhile. */
  readonly published: (bytes: number) => Promise<void>;
  readonly failed: (error: unknown) => void;
  readonly ended: () => void;
}

/**
 * An entry that is being written. It is published as soon as it is complete, so that a killed run loses no complete sound.
 * Its methods never throw: an entry with an error is dropped.
 */
export class EntryDraft {
  readonly #root: CacheRoot;
  readonly #key: string;
  readonly #owner: string;
  readonly #format: PcmFormat;
  readonly #rules: DraftRules;
  #file: AtomicFile | undefined;
  #batch: Uint8Array[] = [];
  #batched = 0;
  /** PCM bytes, without the header. */
  #bytes = 0;
  #checksum: number;
  #isOpen = true;
  #published: Promise<void> | undefined;

  constructor(root: CacheRoot, { key, format, owner }: EntryFacts, rules: DraftRules) {
    this.#root = root;
    this.#key = key;
    this.#owner = owner;
    this.#format = format;
    this.#rules = rules;
    this.#checksum = checksumSeed(key);
  }

  write(piece: Uint8Array): void {
    if (!this.#isOpen) return;
    this.#bytes += piece.length;
    try {
      this.#append(piece);
      if (!this.#rules.hasRoom(this.#size)) this.#end();
      else if (this.#batched >= BATCH_BYTES) this.#flush();
    } catch (error) {
      this.#rules.failed(error);
      this.#end();
    }
  }

  publish(): Promise<void> {
    this.#published ??= this.#publish()
      .catch((error) => this.#rules.failed(error))
      .finally(() => this.#end());
    return this.#published;
  }

  /** Drops the entry, unless it is being published. */
  async discard(): Promise<void> {
    await this.#published;
    this.#end();
  }

  async #publish(): Promise<void> {
    const size = this.#size;
    // Other entries may have used the room.
    if (!this.#isOpen || this.#bytes === 0 || !this.#rules.hasRoom(size)) return;
    this.#rules.publishing(size);
    this.#append(new Uint8Array(padding(this.#bytes)));
    const file = this.#flush();
    const header = wavHeader(this.#format, this.#bytes);
    writeAt(file.fd, header, 0);
    const { shard } = keyParts(this.#key);
    const folder = join(this.#root.folder, shard);
    makeFolder(folder);
    if (!isOfCache(folder, this.#root.uid)) throw new Error(`${shard} is not a folder of its own`);
    try {
      const start = nameStart(this.#key, crc32(header, this.#checksum));
      await file.publish(undefined, join(folder, `${start}${makerOf(this.#owner)}.wav`));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      throw error;
    }
    await this.#rules.published(size);
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#rules.ended();
    this.#batch = [];
    this.#file?.discard();
  }

  /** Bytes of the whole file. */
  get #size(): number {
    return overheadBytes(this.#format, this.#bytes) + this.#bytes;
  }

  #append(piece: Uint8Array): void {
    this.#batch.push(piece);
    this.#batched += piece.length;
    this.#checksum = crc32(piece, this.#checksum);
  }

  #flush(): AtomicFile {
    const file = this.#file ?? this.#open();
    const batch = Buffer.concat(this.#batch);
    this.#batch = [];
    this.#batched = 0;
    writeFileSync(file.fd, batch);
    return file;
  }

  #open(): AtomicFile {
    makeFolder(this.#root.folder);
    this.#file = AtomicFile.create(join(this.#root.folder, 'entry'), { mode: 0o600, durable: false });
    writeFileSync(this.#file.fd, new Uint8Array(headerBytes(this.#format, undefined)));
    return this.#file;
  }
}
