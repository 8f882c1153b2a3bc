import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, ExitCode, TtsError } from './error.ts';
import { linkTarget, namesIn, unwritable } from './folders.ts';
import type { Host } from './host.ts';
import { ageOf } from './words.ts';

export interface FileOptions {
  readonly name: string;
  /** An absolute path. */
  readonly path: string;
  /** The existing file that is replaced. */
  readonly old: Stats | undefined;
  readonly clobber: boolean;
  readonly writer: Writer;
  /** The caller removes leftovers and syncs the folder at the end. */
  readonly isOneOfMany?: boolean;
  readonly elsewhere?: string;
}

export type Writer = Pick<Host, 'pid' | 'realm' | 'isRunning' | 'uid'>;

const PERMISSIONS = 0o777;
const PRIVATE = 0o600;
/** The permissions of a new file, from which the umask takes some away. */
const PUBLIC = 0o666;

interface Publishing {
  readonly target: string;
  /** Permission bits of the file; `undefined` keeps those of the part. */
  readonly permissions: number | undefined;
  /** True if the content must be on the disk before the file gets its name. */
  readonly durable: boolean;
  readonly isNameDurable: boolean;
  /** Throws if the target exists and must stay. */
  readonly assertFree?: () => void;
  readonly explain: (error: unknown, part: string) => unknown;
}

/** A file that is written as a part beside its target and appears under its name in one step. */
export class AtomicFile implements AsyncDisposable {
  readonly fd: number;
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
   * Creates a part with a random name.
   * @throws the system's error, here and in the methods
   */
  static create(target: string, { mode, durable }: { mode: number; durable: boolean }): AtomicFile {
    const path = besideFile(target, `${crypto.randomUUID()}.part`);
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
   * Creates a part. Removes those of killed runs, keeps the permissions of an old file, and replaces the target of a link.
   * @throws TtsError (output), here and in the methods
   */
  static forOutput(options: FileOptions): AtomicFile {
    const { name, path, old, clobber, writer, isOneOfMany, elsewhere } = options;
    const target = linkTarget(path);
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

  /** Does everything that may fail (permissions, fsync, `--no-clobber`) before the first of several files is published. */
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

  /** Reads the content so far. */
  async read<T>(how: (path: string) => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await how(this.path);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#publishing.explain(error, this.path);
    }
  }

  /** @param as the final name, which may be another one in the same file system */
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

  /** Deletes the part. Never throws; has no effect after publishing. */
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

  /** Changes permissions only if they differ: some file systems have one mode for all files. */
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
 * Replaces a file in one step. The new file is on the disk when this resolves.
 * @throws the system's error; the old file is then unchanged
 */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  await using file = AtomicFile.create(path, { mode, durable: true });
  writeFileSync(file.fd, text);
  await file.publish();
}

export interface PartFile {
  readonly fd: number;
  readonly path: string;
}

/** Milliseconds without a write after which a part counts as abandoned. */
const ABANDONED_AFTER_MS = 3_600_000;

/** The name of a part. If it is taken, a number is added before the ending. */
const PART = /^(?<target>.+)\.(?<pid>\d+)-(?<tag>[0-9a-f]{8})(?:-\d+)?\.part$/s;

/** Creates `NAME.PID-REALM.part`. An existing file is not replaced: realms may have the same hash by chance. */
export function createPart(target: string, { pid, realm }: Writer, mode: number): PartFile {
  for (let number = 0; ; number += 1) {
    const path = besideFile(target, `${pid}-${tagOf(realm)}${number > 0 ? `-${number}` : ''}.part`);
    try {
      return { fd: openSync(path, 'wx+', mode), path };
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** Removes the parts of this file that killed runs have left. */
export function removeLeftovers(target: string, writer: Writer): void {
  const short = basename(shortened(target));
  removeLeftoversIn(dirname(target), (name) => name === short, writer);
}

/** @param isTarget is given the shortened form of long names */
export function removeLeftoversIn(folder: string, isTarget: (name: string) => boolean, writer: Writer): void {
  for (const name of namesIn(folder)) {
    const found = PART.exec(name)?.groups;
    if (!found || !isTarget(found.target ?? '')) continue;
    const path = join(folder, name);
    try {
      if (isOver(found, path, writer)) unlinkSync(path);
    } catch {}
  }
}

function isOver({ pid, tag }: Record<string, string>, path: string, writer: Writer): boolean {
  if (tag === tagOf(writer.realm) && Number(pid) !== writer.pid) return !writer.isRunning(Number(pid));
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && ageOf(stats.mtimeMs) > ABANDONED_AFTER_MS;
}

/** A hash of 32 bits keeps names short; crc32 would load node:zlib. */
function tagOf(realm: string): string {
  const mixed = Buffer.from(realm).reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 0);
  return (mixed >>> 0).toString(16).padStart(8, '0');
}

/** Bytes of a name that a part keeps. Most file systems allow 255. */
const KEPT_BYTES = 200;

export function besideFile(path: string, ending: string): string {
  return `${shortened(path)}.${ending}`;
}

/** Returns a path with the part of its name that the names of parts keep. */
export function shortened(path: string): string {
  const name = basename(path);
  const bytes = Buffer.from(name);
  if (bytes.length <= KEPT_BYTES) return path;
  let end = KEPT_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return join(dirname(path), bytes.toString('utf8', 0, end));
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

/** The permission bit of folders like /tmp, where only the owner of a file may replace it. */
const STICKY = 0o1000;

/**
 * Reports before any writing why it would fail.
 * @param target the file after all links
 * @throws TtsError (output), or the system's error
 */
export function assertWritable(target: string, { name, old, clobber, writer }: FileOptions): void {
  if (!old) return;
  accessSync(target, constants.W_OK);
  if (!clobber) throw exists(name);
  if (isKeptByFolder(old, statSync(dirname(target)), writer.uid))
    throw new TtsError(
      `cannot write ${name}: it belongs to somebody else, and its folder keeps it for them`,
      {
        exitCode: ExitCode.output,
        hint: 'choose another name or another folder',
      },
    );
}

function isKeptByFolder(file: Stats, folder: Stats, uid: number | undefined): boolean {
  if (uid === undefined || uid === 0 || (folder.mode & STICKY) === 0) return false;
  return file.uid !== uid && folder.uid !== uid;
}

function exists(name: string): TtsError {
  return new TtsError(`${name} exists`, {
    exitCode: ExitCode.output,
    hint: 'choose another name, or leave out --no-clobber',
  });
}

function removed(name: string, part: string): TtsError {
  return new TtsError(`cannot write ${name}: somebody removed ${part}, which held it so far`, {
    exitCode: ExitCode.output,
    hint: 'try again',
  });
}

/** Publishes by a hard link, which replaces no file, unlike a rename. */
function linkAs(part: string, target: string): void {
  try {
    linkSync(part, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || statSync(target, { throwIfNoEntry: false })) throw error;
    // The file system has no hard links.
    renameSync(part, target);
    return;
  }
  try {
    rmSync(part);
  } catch {}
}
