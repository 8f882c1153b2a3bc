import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsync,
  lstatSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { TtsError } from '../error.ts';
import { createPart, type Part, removeLeftovers } from './part-name.ts';
import { behindLinks, linkAs } from './paths.ts';
import { assertWritable, exists, type FileOptions, removed, unwritable } from './writable.ts';

const PERMISSIONS = 0o777;

/**
 * A file that appears in one step: it is written as a neighbour (see {@link createPart}), which takes the name when all of it
 * is on the disk. Until then the old file stays as it is, whatever happens.
 * @throws TtsError (output) when the file could not be written
 */
export class PartFile {
  readonly fd: number;
  /** Where the part lies. */
  readonly path: string;
  readonly #options: FileOptions;
  readonly #target: string;
  #isOpen = true;
  #isSynced = false;
  /** Under the name of the part. */
  #isThere = true;

  constructor(options: FileOptions) {
    this.#options = options;
    this.#target = behindLinks(options.path);
    const { fd, path } = this.#open();
    this.fd = fd;
    this.path = path;
  }

  /** Finds what would keep the file from its name, as far as that can be known before. */
  async settle(): Promise<void> {
    const { name, old, clobber } = this.#options;
    try {
      if (old) this.#allowAs(old);
      await synced(this.fd);
      this.#isSynced = true;
    } catch (error) {
      throw this.#unwritable(error);
    }
    if (!clobber && lstatSync(this.#target, { throwIfNoEntry: false })) throw this.#unwritable(exists(name));
  }

  /** Gives the file its name. */
  async publish(signal: AbortSignal): Promise<void> {
    try {
      if (!this.#isSynced) await this.settle();
      signal.throwIfAborted();
      // First, since some file systems tell only now that there was no room.
      this.#close();
      if (this.#options.clobber) renameSync(this.path, this.#target);
      else linkAs(this.path, this.#target);
      this.#isThere = false;
    } catch (error) {
      this.discard();
      if (signal.aborted) throw signal.reason;
      throw this.#unwritable(this.#meaning(error as NodeJS.ErrnoException));
    }
  }

  /** Leaves no trace, as far as that can be, and never fails. Without effect on what is published. */
  discard(): void {
    if (!this.#isThere) return;
    this.#isThere = false;
    // What ended the run matters more, and the next one for the same file tries again.
    for (const tidy of [() => this.#close(), () => rmSync(this.path, { force: true })]) {
      try {
        tidy();
      } catch {}
    }
  }

  /** Left alone where it is right: some file systems have one mode for all files, and refuse to be told it. */
  #allowAs(old: Stats): void {
    const mode = old.mode & PERMISSIONS;
    if ((fstatSync(this.fd).mode & PERMISSIONS) !== mode) fchmodSync(this.fd, mode);
  }

  #unwritable(cause: unknown): TtsError {
    const { name, elsewhere } = this.#options;
    return unwritable(name, cause, elsewhere);
  }

  /** What an error says of the name that the file was to get. */
  #meaning(error: NodeJS.ErrnoException): Error {
    const { name } = this.#options;
    if (error.code === 'EEXIST') return exists(name);
    const isPartGone = error.code === 'ENOENT' && statSync(dirname(this.#target), { throwIfNoEntry: false });
    return isPartGone ? removed(name, this.path) : error;
  }

  #open(): Part {
    const { writer } = this.#options;
    try {
      assertWritable(this.#target, this.#options);
      removeLeftovers(this.#target, writer);
      return createPart(this.#target, writer);
    } catch (error) {
      throw this.#unwritable(error);
    }
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.fd);
  }
}

const sync = promisify(fsync);

/** What file systems answer that cannot be asked for it. */
const UNABLE = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/**
 * Resolves when what was written to an open file is on its disk, as far as its file system can tell.
 * @throws what the system says where it cannot be written there
 */
export async function synced(fd: number): Promise<void> {
  try {
    await sync(fd);
  } catch (error) {
    if (!UNABLE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
