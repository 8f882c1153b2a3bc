import {
  closeSync,
  fchmodSync,
  fsync,
  linkSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { assertWritable, exists, removed } from './assert-writable.ts';
import { createPart, type Part, removeLeftovers, type Writer } from './part.ts';
import { unwritable } from './unwritable.ts';

const sync = promisify(fsync);

export interface FileOptions {
  /** As the user named it. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** The file that is there now, which will be replaced. */
  readonly old: Stats | undefined;
  readonly clobber: boolean;
  readonly writer: Writer;
}

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

  constructor(options: FileOptions) {
    this.#options = options;
    this.#target = behindLinks(options.path);
    const { fd, path } = this.#open();
    this.fd = fd;
    this.path = path;
  }

  /** Finds what would keep the file from its name, as far as that can be known before. */
  async settle(): Promise<void> {
    const { name, clobber } = this.#options;
    try {
      await sync(this.fd);
    } catch (error) {
      throw unwritable(name, error);
    }
    if (!clobber && lstatSync(this.#target, { throwIfNoEntry: false })) throw unwritable(name, exists(name));
  }

  /** Gives the file its name. */
  async publish(signal: AbortSignal): Promise<void> {
    const { name, old, clobber } = this.#options;
    try {
      if (old) fchmodSync(this.fd, old.mode & 0o777);
      await sync(this.fd);
      signal.throwIfAborted();
      if (clobber) renameSync(this.path, this.#target);
      else linkAs(this.path, this.#target);
      this.#close();
    } catch (error) {
      this.discard();
      if (signal.aborted) throw signal.reason;
      throw unwritable(name, this.#meaning(error as NodeJS.ErrnoException));
    }
  }

  /** Leaves no trace, as far as that can be, and never fails. Without effect on what is published. */
  discard(): void {
    if (!this.#isOpen) return;
    try {
      this.#close();
      rmSync(this.path, { force: true });
    } catch {
      // What ended the run matters more, and the next one for the same file tries again.
    }
  }

  /** What an error says of the name that the file was to get. */
  #meaning(error: NodeJS.ErrnoException): Error {
    const { name } = this.#options;
    if (error.code === 'EEXIST') return exists(name);
    const isPartGone = error.code === 'ENOENT' && statSync(dirname(this.#target), { throwIfNoEntry: false });
    return isPartGone ? removed(name, this.path) : error;
  }

  #open(): Part {
    const { name, writer } = this.#options;
    try {
      assertWritable(this.#target, this.#options);
      removeLeftovers(this.#target, writer);
      return createPart(this.#target, writer);
    } catch (error) {
      throw unwritable(name, error);
    }
  }

  #close(): void {
    this.#isOpen = false;
    closeSync(this.fd);
  }
}

/** Behind a symbolic link it is the file that is made or replaced, not the link. */
export function behindLinks(path: string): string {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  return behindLinks(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

/** Unlike a rename, a link never takes the place of a file that came up meanwhile. */
function linkAs(part: string, target: string): void {
  try {
    linkSync(part, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || statSync(target, { throwIfNoEntry: false }))
      throw error;
    // A file system without hard links.
    renameSync(part, target);
    return;
  }
  rmSync(part);
}
