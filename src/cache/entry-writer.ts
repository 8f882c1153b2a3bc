import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { PcmFormat } from '../audio/pcm.ts';
import { headerBytes, padding, wavHeader } from '../audio/wav-header.ts';
import { makeFolder } from '../files/folders.ts';
import { checksumSeed, entryName, placeOf } from './entry.ts';
import { type Home, isOwnFolder } from './folder.ts';

export interface KeepingOptions {
  /** Bytes of the largest sound that is kept. */
  readonly limit: number;
  /** Hears of an entry's size when it is in its place; `undefined` where somebody has emptied the cache meanwhile. */
  readonly published: (bytes: number | undefined) => Promise<void>;
  readonly failed: (error: unknown) => void;
  /** Hears once that nothing is open any more. */
  readonly ended: () => void;
}

/** A segment on its way into the cache. Nothing here throws: what cannot be kept is not kept. */
export class Keeping {
  readonly #draft: Draft;
  readonly #options: KeepingOptions;
  #isOpen = true;
  /** One step waits for the other, even where their caller has left. */
  #steps: Promise<void> = Promise.resolve();

  constructor(draft: Draft, options: KeepingOptions) {
    this.#draft = draft;
    this.#options = options;
  }

  write(piece: Uint8Array): Promise<void> {
    return this.#step(async () => {
      if (this.#draft.bytes + piece.length > this.#options.limit) await this.#end();
      else await this.#draft.write(piece);
    });
  }

  /** All of it was written. */
  publish(): Promise<void> {
    return this.#step(async () => {
      if (this.#draft.bytes > 0) await this.#options.published(await this.#draft.publish());
      await this.#end();
    });
  }

  /** It will not become whole. Without effect on what is published. */
  discard(): Promise<void> {
    return this.#step(() => this.#end());
  }

  #step(action: () => Promise<void>): Promise<void> {
    this.#steps = this.#steps.then(async () => {
      if (!this.#isOpen) return;
      try {
        await action();
      } catch (error) {
        this.#options.failed(error);
        await this.#end().catch(() => {});
      }
    });
    return this.#steps;
  }

  async #end(): Promise<void> {
    this.#isOpen = false;
    this.#options.ended();
    await this.#draft.discard();
  }
}

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
