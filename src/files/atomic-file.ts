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
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../error.ts';
import { besideFile, createPart, type PartFile, removeLeftovers } from './part-name.ts';
import { behindLinks, linkAs } from './paths.ts';
import { assertWritable, exists, type FileOptions, removed, unwritable } from './writable.ts';

const PERMISSIONS = 0o777;
const PRIVATE = 0o600;
/** The permissions of a new file, from which the umask takes some away. */
const PUBLIC = 0o666;

interface Publishing {
  readonly target: string;
  /** They are permission bits. `undefined` keeps those of the part. */
  readonly permissions: number | undefined;
  /** True for a file that must be on the disk before it gets its name. */
  readonly durable: boolean;
  readonly isNameDurable: boolean;
  /** Throws if the target exists and must stay. */
  readonly assertFree?: () => void;
  readonly explain: (error: unknown, part: string) => unknown;
}

export class AtomicFile implements AsyncDisposable {
  readonly fd: number;
  /** The path of the part. */
  readonly path: string;
  readonly #publishing: Publishing;
  #isOpen = true;
  #isPrepared = false;
  #hasPart = true;

  private constructor({ fd, path }: PartFile, publishing: Publishing) {
    this.fd = fd;
    this.path = path;
    this.#publishing = publishing;
  }

  /**
   * Makes a part with a random name.
   * @throws the system's error, here and in the methods
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
   * Removes parts of killed runs, keeps the permissions of an old file, and replaces the target of a link.
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

  /** Does all that can fail, such as permissions, fsync and `--no-clobber`, before the first of several files is published. */
  async prepare(): Promise<void> {
    const { permissions, durable, assertFree, explain } = this.#publishing;
    try {
      if (permissions !== undefined) this.#allow(permissions);
      if (durable) await synced(this.fd);
      this.#isPrepared = true;
      assertFree?.();
    } catch (error) {
      throw explain(error, this.path);
    }
  }

  /** @param as the name, which may be another one in the same file system */
  async publish(signal?: AbortSignal, as = this.#publishing.target): Promise<void> {
    const { isNameDurable, assertFree, explain } = this.#publishing;
    try {
      if (!this.#isPrepared) await this.prepare();
      signal?.throwIfAborted();
      // Some file systems report a full disk only on closing.
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

  /** Never throws; has no effect after publishing. */
  discard(): void {
    if (!this.#hasPart) return;
    this.#hasPart = false;
    // The next run removes leftovers.
    for (const tidy of [() => this.#close(), () => rmSync(this.path, { force: true })]) {
      try {
        tidy();
      } catch {}
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.discard();
  }

  /** Some file systems have one mode for all files. */
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

function meaningOf(
  error: unknown,
  { name, target, part }: Record<'name' | 'target' | 'part', string>,
): unknown {
  const code = codeOf(error);
  if (code === 'EEXIST') return exists(name);
  const isPartGone = code === 'ENOENT' && statSync(dirname(target), { throwIfNoEntry: false });
  return isPartGone ? removed(name, part) : error;
}

/**
 * Replaces a file in one step. The new one is on the disk when this resolves.
 * @throws the system's error; the old file is unchanged then
 */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  await using file = AtomicFile.create(path, { mode, durable: true });
  writeFileSync(file.fd, text);
  await file.publish();
}

const sync = promisify(fsync);

/** The codes of file systems without fsync. */
const UNABLE = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/** @throws the system's error */
export async function synced(fd: number): Promise<void> {
  try {
    await sync(fd);
  } catch (error) {
    if (!UNABLE.has(codeOf(error))) throw error;
  }
}

export async function syncFolder(folder: string): Promise<void> {
  let fd: number;
  try {
    fd = openSync(folder, 'r');
  } catch {
    return;
  }
  try {
    await synced(fd);
  } finally {
    closeSync(fd);
  }
}
