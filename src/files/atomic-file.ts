import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { besideFile, createPart, type Part, removeLeftovers } from './part-name.ts';
import { behindLinks, linkAs } from './paths.ts';
import { assertWritable, exists, type FileOptions, removed, unwritable } from './writable.ts';

const PERMISSIONS = 0o777;
/** Of a part whose file may be private. */
const PRIVATE = 0o600;
/** Of a new file, before the umask. */
const PUBLIC = 0o666;

interface Publishing {
  readonly target: string;
  /** Set before the file is published; `undefined` keeps those of the part. */
  readonly permissions: number | undefined;
  /** True: the file is on the disk when it is published. */
  readonly durable: boolean;
  /** True: so is its name. */
  readonly isNameDurable: boolean;
  /** Throws where the target exists and is to be kept. */
  readonly assertFree?: () => void;
  /** The error to throw for an error of the system. */
  readonly explain: (error: unknown, part: string) => unknown;
}

/**
 * A file that appears in one step: it is written as a neighbour, which is renamed when all of it is there. Until then the
 * old file stays as it is.
 */
export class AtomicFile implements AsyncDisposable {
  readonly fd: number;
  /** Of the part. */
  readonly path: string;
  readonly #publishing: Publishing;
  #isOpen = true;
  #isSettled = false;
  #hasPart = true;

  private constructor({ fd, path }: Part, publishing: Publishing) {
    this.fd = fd;
    this.path = path;
    this.#publishing = publishing;
  }

  /**
   * A file whose part has a random name.
   * @param mode of which the umask takes away
   * @throws what the system says, here and in the methods
   */
  static create(target: string, { mode, durable }: { mode: number; durable: boolean }): AtomicFile {
    const path = besideFile(target, `${randomUUID()}.part`);
    const part = { fd: openSync(path, 'wx', mode), path };
    return new AtomicFile(part, {
      target,
      permissions: undefined,
      durable,
      isNameDurable: durable,
      explain: (error) => error,
    });
  }

  /**
   * A file that the user named. Its part tells by its name who writes it, and those of killed runs are removed. The old
   * file's permissions stay; a link stays, and its target is replaced.
   * @throws TtsError (output), here and in the methods
   */
  static forOutput(options: FileOptions): AtomicFile {
    const { name, path, old, clobber, writer, isOneOfMany, elsewhere } = options;
    const target = behindLinks(path);
    try {
      assertWritable(target, options);
      if (!isOneOfMany) removeLeftovers(target, writer);
      return new AtomicFile(createPart(target, writer, old ? PRIVATE : PUBLIC), {
        target,
        permissions: old && old.mode & PERMISSIONS,
        durable: true,
        isNameDurable: !isOneOfMany,
        ...(!clobber && { assertFree: () => assertMissing(target, name) }),
        explain: (error, part) => unwritable(name, meaningOf(error, { name, target, part }), elsewhere),
      });
    } catch (error) {
      throw unwritable(name, error, elsewhere);
    }
  }

  /** Does what can fail before another file is published: permissions, fsync, `--no-clobber`. */
  async settle(): Promise<void> {
    const { permissions, durable, assertFree, explain } = this.#publishing;
    try {
      if (permissions !== undefined) this.#allow(permissions);
      if (durable) await synced(this.fd);
      this.#isSettled = true;
      assertFree?.();
    } catch (error) {
      throw explain(error, this.path);
    }
  }

  /** @param as another name in the same file system */
  async publish(signal?: AbortSignal, as = this.#publishing.target): Promise<void> {
    const { isNameDurable, assertFree, explain } = this.#publishing;
    try {
      if (!this.#isSettled) await this.settle();
      signal?.throwIfAborted();
      // Some file systems report only on closing that there was no room.
      this.#close();
      if (assertFree) linkAs(this.path, as);
      else renameSync(this.path, as);
      this.#hasPart = false;
      if (isNameDurable) await syncFolder(dirname(as));
    } catch (error) {
      this.discard();
      if (signal?.aborted) throw signal.reason;
      throw explain(error, this.path);
    }
  }

  /** Removes the part. Never throws; without effect once the file is published. */
  discard(): void {
    if (!this.#hasPart) return;
    this.#hasPart = false;
    // The error that ended the run matters more, and the next run removes leftovers.
    for (const tidy of [() => this.#close(), () => rmSync(this.path, { force: true })]) {
      try {
        tidy();
      } catch {}
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.discard();
  }

  /** File systems with one mode for all files refuse to change it. */
  #allow(permissions: number): void {
    if ((fstatSync(this.fd).mode & PERMISSIONS) !== permissions) fchmodSync(this.fd, permissions);
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.fd);
  }
}

function assertMissing(target: string, name: string): void {
  if (lstatSync(target, { throwIfNoEntry: false })) throw exists(name);
}

/** What an error of publishing says of the target. */
function meaningOf(
  error: unknown,
  { name, target, part }: Record<'name' | 'target' | 'part', string>,
): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') return exists(name);
  const isPartGone = code === 'ENOENT' && statSync(dirname(target), { throwIfNoEntry: false });
  return isPartGone ? removed(name, part) : error;
}

const sync = promisify(fsync);

/** Codes of file systems without fsync. */
const UNABLE = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/**
 * Resolves when an open file is on its disk, as far as its file system can tell.
 * @throws what the system says
 */
export async function synced(fd: number): Promise<void> {
  try {
    await sync(fd);
  } catch (error) {
    if (!UNABLE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Makes a rename durable. */
export async function syncFolder(folder: string): Promise<void> {
  let fd: number;
  try {
    fd = openSync(folder, 'r');
  } catch {
    // Windows opens no folders, and some folders may be written and not read.
    return;
  }
  try {
    await synced(fd);
  } finally {
    closeSync(fd);
  }
}
