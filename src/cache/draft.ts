import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { PcmFormat } from '../audio/pcm.ts';
import { headerBytes, padding, wavHeader } from '../audio/wav-header.ts';
import { makeFolder } from '../make-folder.ts';
import { checksumSeed, entryName, placeOf } from './entry-name.ts';
import { type Home, isOwnFolder } from './folder.ts';

/** Enough for the calls to the system not to count. */
const BATCH_BYTES = 128 * 1024;

/**
 * The sound of a segment while it is being made: a file under a name that counts for nothing. Its methods are called
 * one after the other, and throw what the system says.
 */
export class Draft {
  readonly #folder: string;
  readonly #uid: number | undefined;
  readonly #key: string;
  readonly #format: PcmFormat;
  readonly #part: string;
  #file: FileHandle | undefined;
  #batch: Uint8Array[] = [];
  #batched = 0;
  #bytes = 0;
  #checksum: number;

  constructor({ folder, uid }: Home, key: string, format: PcmFormat) {
    this.#folder = folder;
    this.#uid = uid;
    this.#key = key;
    this.#format = format;
    this.#part = join(folder, `${randomUUID()}.part`);
    this.#checksum = checksumSeed(key);
  }

  /** Bytes of sound so far. */
  get bytes(): number {
    return this.#bytes;
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#bytes += piece.length;
    this.#append(piece);
    if (this.#batched >= BATCH_BYTES) await this.#flush();
  }

  /**
   * Gives the file its name, in one step.
   * @returns its size in bytes, or `undefined` where somebody has emptied the cache meanwhile
   */
  async publish(): Promise<number | undefined> {
    this.#append(new Uint8Array(padding(this.#bytes)));
    await this.#flush();
    const header = wavHeader(this.#format, this.#bytes);
    await this.#file?.write(header, 0, header.length, 0);
    await this.#file?.close();
    this.#file = undefined;
    const { shard } = placeOf(this.#key);
    const name = entryName(this.#key, crc32(header, this.#checksum));
    makeFolder(join(this.#folder, shard));
    if (!(await isOwnFolder(join(this.#folder, shard), this.#uid)))
      throw new Error(`${shard} is not a folder of its own`);
    const there = await renameIfThere(this.#part, join(this.#folder, shard, name));
    return there ? header.length + this.#bytes + padding(this.#bytes) : undefined;
  }

  async discard(): Promise<void> {
    this.#batch = [];
    await this.#file?.close();
    this.#file = undefined;
    await rm(this.#part, { force: true });
  }

  #append(piece: Uint8Array): void {
    this.#batch.push(piece);
    this.#batched += piece.length;
    this.#checksum = crc32(piece, this.#checksum);
  }

  async #flush(): Promise<void> {
    const file = this.#file ?? (await this.#open());
    const batch = this.#batch;
    this.#batch = [];
    this.#batched = 0;
    await file.writeFile(Buffer.concat(batch));
  }

  /** Leaves room for the header. */
  async #open(): Promise<FileHandle> {
    makeFolder(this.#folder);
    this.#file = await open(this.#part, 'wx', 0o600);
    await this.#file.writeFile(new Uint8Array(headerBytes(this.#format, undefined)));
    return this.#file;
  }
}

async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
