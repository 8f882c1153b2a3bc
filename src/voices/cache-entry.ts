import { hash } from 'node:crypto';
import { constants, lstatSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { writeAt } from '../kit/descriptor.ts';
import { codeOf, ExitCode, TtsError } from '../kit/error.ts';
import { AtomicFile } from '../kit/file.ts';
import { makeFolder } from '../kit/folders.ts';
import { isUsers } from '../kit/guard.ts';
import { singleItem } from '../kit/wait.ts';
import { headerBytes, overheadBytes, padding, wavHeader } from '../sound/encode/wav.ts';
import { frameBytes, type PcmFormat } from '../sound/pcm.ts';
import { ByteReader } from '../sound/samples.ts';
import { beginsWav, readStart } from '../sound/wav.ts';

export interface Home {
  /** An absolute path. */
  readonly folder: string;
  /** The number of the user; `undefined` on Windows. */
  readonly uid: number | undefined;
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * Finds an entry, and removes a damaged one.
 * @throws the system's error for an entry that cannot be read
 */
export async function findEntry(home: Home, key: string): Promise<OpenEntry | undefined> {
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

/** With these flags, opening follows no link, and waits for no writer of a pipe. Windows has neither flag. */
const WARY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

interface Layout {
  readonly format: PcmFormat;
  readonly start: number;
  readonly bytes: number;
}

/** An open entry can be read even if another run removes it. */
export interface OpenEntry extends Layout {
  readonly path: string;
  readonly file: FileHandle;
}

/**
 * Opens an entry after a check of every byte.
 * @param name that of an entry
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

/** Closes a file that was only read, so that an error loses nothing. */
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

/** Computes the checksum over the samples and then the header, in the order in which they were written. */
async function checksum(file: FileHandle, { start, bytes }: Layout, key: string): Promise<number> {
  let sum = checksumSeed(key);
  const end = start + bytes + padding(bytes);
  for (let at = start; at < end; at += BLOCK_BYTES)
    sum = crc32(await readBlock(file, at, Math.min(BLOCK_BYTES, end - at)), sum);
  return crc32(await readBlock(file, 0, start), sum);
}

/**
 * It gives whole frames.
 * @param close is called at the end, or when the reader leaves
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
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(block, done, length - done, position + done);
    if (bytesRead === 0) throw new Error('the file ends early');
    done += bytesRead;
  }
  return block;
}

/** Key, checksum, and who made the sound. */
const ENTRY = /^[0-9a-f]{62}\.[0-9a-f]{8}\.(?<maker>[0-9a-f]{8})\.wav$/;

export function placeOf(key: string): { readonly shard: string; readonly prefix: string } {
  return { shard: key.slice(0, 2), prefix: `${key.slice(2)}.` };
}

function nameStart(key: string, checksum: number): string {
  return `${placeOf(key).prefix}${checksum.toString(16).padStart(8, '0')}.`;
}

/** @returns what the name of an entry says of who made its sound; `undefined` for the name of another file */
export function makerIn(name: string): string | undefined {
  return ENTRY.exec(name)?.groups?.maker;
}

/** @param owner from {@link ownerOf} */
function makerOf(owner: string): string {
  return hash('sha256', owner).slice(0, 8);
}

/** @returns who an address may mean in names of entries: a service, or a server with one of these addresses */
export function makersAt(address: string, servers: readonly string[]): ReadonlySet<string> {
  return new Set([address, `${address}/tts`, ...servers.map((each) => `server ${each}`)].map(makerOf));
}

/** Writes an address as owners have it: without the login. */
export function addressOf(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url.href.replace(/\/+$/, '');
}

/** What makes a sound, without the voice and the model: the address of a service or of a server; otherwise the identity itself. */
export function ownerOf(identity: string): string {
  return /^server \S+/.exec(identity)?.[0] ?? identity;
}

/** The checksum begins with the key, so that sound under another key counts as damaged. */
function checksumSeed(key: string): number {
  return crc32(key);
}

/** False for a link: its target does not belong to the cache. */
function isOfCache(folder: string, uid: Home['uid']): boolean {
  const found = lstatSync(folder);
  return found.isDirectory() && isUsers(found, uid);
}

/** Bytes. */
const BATCH_BYTES = 128 * 1024;

/** What is known of an entry before its sound. */
export interface Begun {
  readonly key: string;
  readonly format: PcmFormat;
  /** From {@link ownerOf}. */
  readonly owner: string;
}

/** What a cache says to an entry that is being made. */
export interface DraftRules {
  readonly hasRoom: (bytes: number) => boolean;
  /** It is called before the entry gets its name. */
  readonly publishing: (bytes: number) => void;
  /** It is not called if the cache was emptied meanwhile. */
  readonly published: (bytes: number) => Promise<void>;
  readonly failed: (error: unknown) => void;
  readonly ended: () => void;
}

/**
 * An entry that is being made. It is written at once: a run that is killed loses no sound that was complete. Its methods never
 * throw: an entry with an error is dropped.
 */
export class EntryDraft {
  readonly #home: Home;
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

  constructor(home: Home, { key, format, owner }: Begun, rules: DraftRules) {
    this.#home = home;
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

  /** An entry that is being published still appears. */
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
    const { shard } = placeOf(this.#key);
    const folder = join(this.#home.folder, shard);
    makeFolder(folder);
    if (!isOfCache(folder, this.#home.uid)) throw new Error(`${shard} is not a folder of its own`);
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
    makeFolder(this.#home.folder);
    this.#file = AtomicFile.create(join(this.#home.folder, 'entry'), { mode: 0o600, durable: false });
    writeFileSync(this.#file.fd, new Uint8Array(headerBytes(this.#format, undefined)));
    return this.#file;
  }
}
