import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { PcmFormat } from '../audio/pcm.ts';
import { headerBytes, overheadBytes, padding, wavHeader } from '../audio/wav-header.ts';
import { codeOf } from '../error.ts';
import { AtomicFile } from '../files/atomic-file.ts';
import { makeFolder } from '../files/folders.ts';
import { checksumSeed, entryName, placeOf } from './entry.ts';
import { type Home, isOwnFolder } from './folder.ts';

export interface DraftOptions {
  readonly hasRoom: (bytes: number) => boolean;
  /** It is called before the entry gets its name. */
  readonly publishing: (bytes: number) => void;
  /** It is not called if the cache was emptied meanwhile. */
  readonly published: (bytes: number) => Promise<void>;
  readonly failed: (error: unknown) => void;
  readonly ended: () => void;
}

/** An entry that is being made. Its methods never throw: an entry with an error is dropped. */
export class EntryDraft {
  readonly #file: EntryFile;
  readonly #options: DraftOptions;
  #isOpen = true;
  /** The steps run one after the other, even if their caller has gone. */
  #steps: Promise<void> = Promise.resolve();

  constructor(file: EntryFile, options: DraftOptions) {
    this.#file = file;
    this.#options = options;
  }

  write(piece: Uint8Array): Promise<void> {
    return this.#step(async () => {
      if (this.#options.hasRoom(this.#file.sizeWith(piece.length))) this.#file.write(piece);
      else await this.#end();
    });
  }

  publish(): Promise<void> {
    return this.#step(async () => {
      const size = this.#file.sizeWith(0);
      // Other entries may have used the room.
      if (this.#file.bytes > 0 && this.#options.hasRoom(size)) {
        this.#options.publishing(size);
        if (await this.#file.publish()) await this.#options.published(size);
      }
      await this.#end();
    });
  }

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
    this.#file.discard();
  }
}

/** Bytes. */
const BATCH_BYTES = 128 * 1024;

/**
 * Writes the file of an entry at once: a run that is killed loses no sound that was complete. The caller gets the system's
 * errors.
 */
export class EntryFile {
  readonly #home: Home;
  readonly #key: string;
  readonly #format: PcmFormat;
  #file: AtomicFile | undefined;
  #batch: Uint8Array[] = [];
  #batched = 0;
  #bytes = 0;
  #checksum: number;

  constructor(home: Home, key: string, format: PcmFormat) {
    this.#home = home;
    this.#key = key;
    this.#format = format;
    this.#checksum = checksumSeed(key);
  }

  /** PCM bytes, without the header. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @returns the bytes of the entry when `more` bytes of sound have been added */
  sizeWith(more: number): number {
    const bytes = this.#bytes + more;
    return overheadBytes(this.#format, bytes) + bytes;
  }

  write(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#append(piece);
    if (this.#batched >= BATCH_BYTES) this.#flush();
  }

  /** @returns false if the cache was emptied meanwhile */
  async publish(): Promise<boolean> {
    this.#append(new Uint8Array(padding(this.#bytes)));
    const file = this.#flush();
    const header = wavHeader(this.#format, this.#bytes);
    writeAll(file.fd, header, 0);
    const { shard } = placeOf(this.#key);
    const folder = join(this.#home.folder, shard);
    makeFolder(folder);
    if (!isOwnFolder(folder, this.#home.uid)) throw new Error(`${shard} is not a folder of its own`);
    try {
      await file.publish(undefined, join(folder, entryName(this.#key, crc32(header, this.#checksum))));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
    return true;
  }

  discard(): void {
    this.#batch = [];
    this.#file?.discard();
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
    writeAll(file.fd, batch);
    return file;
  }

  #open(): AtomicFile {
    makeFolder(this.#home.folder);
    this.#file = AtomicFile.create(join(this.#home.folder, 'entry'), { mode: 0o600, durable: false });
    writeAll(this.#file.fd, new Uint8Array(headerBytes(this.#format, undefined)));
    return this.#file;
  }
}

function writeAll(fd: number, bytes: Uint8Array, position?: number): void {
  for (let done = 0; done < bytes.length; ) {
    const at = position === undefined ? null : position + done;
    done += writeSync(fd, bytes, done, bytes.length - done, at);
  }
}
