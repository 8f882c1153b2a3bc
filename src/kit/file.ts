import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, type PlatformPath, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, type TtsError, usageError } from './error.ts';
import {
  assertWritable,
  behindLinks,
  exists,
  type FileOptions,
  linkAs,
  namesIn,
  removed,
  unwritable,
} from './folders.ts';
import type { Host } from './host.ts';
import { yieldToEventLoop } from './wait.ts';
import { ageOf } from './words.ts';

export type Writer = Pick<Host, 'pid' | 'realm' | 'isRunning' | 'uid'>;

export interface PartFile {
  readonly fd: number;
  readonly path: string;
}

/** Milliseconds without a write, after which a part has no owner. */
const ABANDONED_AFTER_MS = 3_600_000;

/** A name that is taken gets a number before its ending. */
const PART = /^(?<target>.+)\.(?<pid>\d+)-(?<tag>[0-9a-f]{8})(?:-\d+)?\.part$/s;

/** It creates `NAME.PID-REALM.part`. A file with this name is not replaced: realms may be equal by chance. */
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

/** Removes the parts that killed runs left of the same file. */
export function removeLeftovers(target: string, writer: Writer): void {
  const short = shortName(target);
  removeLeftoversIn(dirname(target), (name) => name === short, writer);
}

/** @param isTarget gets shortened names for long ones */
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

/** The hash has 32 bits, since names are bounded; crc32 would load node:zlib. */
function tagOf(realm: string): string {
  const mixed = Buffer.from(realm).reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 0);
  return (mixed >>> 0).toString(16).padStart(8, '0');
}

/** Most file systems allow 255 bytes. */
const KEPT_BYTES = 200;

export function besideFile(path: string, ending: string): string {
  return join(dirname(path), `${shortName(path)}.${ending}`);
}

function shortName(path: string): string {
  const name = basename(path);
  const bytes = Buffer.from(name);
  if (bytes.length <= KEPT_BYTES) return name;
  let end = KEPT_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

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

type Flags = 'O_RDONLY' | 'O_APPEND';

const ROOT = 0;

/**
 * Opens a file whose name is the tool's, in a folder that somebody else may have made. It follows no link and waits for
 * no pipe.
 * @param uid of the user, where the system has one
 * @throws TtsError (usage) unless it is a regular file of the user or of root; the system's error
 */
export function openOwn(path: string, how: Flags, uid: number | undefined, mode = 0o666): number {
  assertRegular(path);
  // Windows has neither of the two.
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_CREAT, O_WRONLY, O_APPEND, O_RDONLY } = constants;
  const access = how === 'O_APPEND' ? O_WRONLY | O_APPEND | O_CREAT : O_RDONLY;
  const fd = openSync(path, access | O_NOFOLLOW | O_NONBLOCK, mode);
  try {
    const opened = fstatSync(fd);
    const named = assertRegular(path);
    if (!isSame(opened, named)) throw refused(path, 'was replaced while it was opened');
    if (!isOwnedBy(opened, uid)) throw refused(path, 'belongs to another user');
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return fd;
}

/** @throws as {@link openOwn} */
export function readOwn(path: string, uid: number | undefined): string {
  const fd = openOwn(path, 'O_RDONLY', uid);
  try {
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/**
 * @returns `undefined` where there is nothing
 * @throws TtsError (usage) for a link and for what is not a file
 */
export function assertRegular(path: string): Stats | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) throw refused(path, 'is a symbolic link');
  if (stats?.isDirectory()) throw refused(path, 'is a folder');
  if (stats && !stats.isFile()) throw refused(path, 'is a pipe or a device');
  return stats;
}

/** @throws TtsError (usage) for a file with a second name: what is appended would appear there as well */
export function assertNoHardLink(fd: number, path: string): void {
  if (fstatSync(fd).nlink > 1) throw refused(path, 'has a second name (a hard link)');
}

function refused(path: string, fault: string): TtsError {
  return usageError(`${path} ${fault}; expected a file of your own`, 'remove it, or choose another folder');
}

function isSame(one: Stats, other: Stats | undefined): boolean {
  return one.ino === other?.ino && one.dev === other.dev;
}

/** Root may work in the folder of a user, as in a container. */
function isOwnedBy(stats: Stats, uid: number | undefined): boolean {
  return uid === undefined || uid === ROOT || stats.uid === uid || stats.uid === ROOT;
}

/**
 * Links above the working folder are the user's own; one below it may have come with a clone.
 * @throws TtsError (usage) for a link in a relative name, or in one below the working folder; (output) for a place that
 * cannot be looked at
 */
export function assertUnlinked(name: string, cwd: string): void {
  const path = resolve(cwd, name);
  let place = cwd;
  while (!isWithin(place, path)) {
    if (isAbsolute(name)) return;
    place = dirname(place);
  }
  for (const part of relative(place, path).split(sep)) {
    place = join(place, part);
    if (statsOf(place)?.isSymbolicLink())
      throw usageError(
        `${place} is a symbolic link`,
        'name the place that it leads to by its absolute path, if you mean it',
      );
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw unwritable(path, error);
  }
}

/**
 * @param folder a real path
 * @returns whether a path lies below it when all links are followed
 */
export function leadsBelow(folder: string, path: string): boolean {
  const real = realOf(path);
  return real !== undefined && isWithin(folder, real);
}

/** @returns `undefined` for a broken link. What is missing stays as it is named. */
export function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return undefined;
    if (lstatSync(path, { throwIfNoEntry: false })) return undefined;
    const parent = realOf(dirname(path));
    return parent && join(parent, basename(path));
  }
}

type Paths = Pick<PlatformPath, 'isAbsolute' | 'relative' | 'sep'>;

export function isWithin(folder: string, file: string, path: Paths = { relative, isAbsolute, sep }): boolean {
  const between = path.relative(folder, file);
  return !path.isAbsolute(between) && between.split(path.sep)[0] !== '..';
}

/** Bytes. The cost of a system call does not count for blocks of this size. */
const BLOCK_BYTES = 1 << 20;

/** Writes synchronously: another thread costs more than a copy into the system's cache. */
export class FileWriter {
  readonly #fd: number;
  readonly #name: string;
  readonly #elsewhere: string | undefined;
  #block: Uint8Array[] = [];
  #bytes = 0;

  /** @param elsewhere what to do if the file cannot be written, for a hint */
  constructor(fd: number, name: string, elsewhere?: string) {
    this.#fd = fd;
    this.#name = name;
    this.#elsewhere = elsewhere;
  }

  /** @throws TtsError (output); the cause may be an earlier piece */
  write(piece: Uint8Array): void {
    if (piece.length > 0) this.#block.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= BLOCK_BYTES) this.flush();
  }

  flush(): void {
    let left = this.#block;
    this.#block = [];
    this.#bytes = 0;
    try {
      while (left.length > 0) left = after(left, writevSync(this.#fd, left));
    } catch (error) {
      throw unwritable(this.#name, error, this.#elsewhere);
    }
  }
}

export function writeAt(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

function after(pieces: readonly Uint8Array[], written: number): Uint8Array[] {
  let skip = written;
  return pieces.flatMap((piece) => {
    const left = piece.subarray(Math.min(skip, piece.length));
    skip -= piece.length - left.length;
    return left.length > 0 ? [left] : [];
  });
}

/** The flag O_APPEND of Linux. */
const O_APPEND = 0o2000;
const O_ACCMODE = 0o3;

/** True for the number of a descriptor in the place of a file's name. */
export function isDescriptor(name: string): boolean {
  return /^\d+$/.test(name);
}

/**
 * Node opens /dev/null for reading and writing in place of a closed stream; a shell's `> /dev/null` opens it for writing only.
 * Only Linux shows the difference.
 */
export function wasClosed(fd: number): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === '/dev/null' && accessOf(fd) === constants.O_RDWR;
  } catch {
    return false;
  }
}

/** Only Linux has the list of flags: elsewhere the answer is false. */
export function isReadOnly(fd: number): boolean {
  try {
    return accessOf(fd) === constants.O_RDONLY;
  } catch {
    return false;
  }
}

/**
 * @returns `undefined` if every write appends
 * @throws the system's error elsewhere than on Linux
 */
export function positionOf(fd: number): number | undefined {
  return flagsOf(fd) & O_APPEND ? undefined : Number(/^pos:\s*(\d+)/m.exec(infoOf(fd))?.[1]);
}

/** Makes the error for a descriptor that is closed or cannot be written. */
export function notWritable(): NodeJS.ErrnoException {
  return Object.assign(new Error('not open for writing'), { code: 'EBADF' });
}

function accessOf(fd: number): number {
  return flagsOf(fd) & O_ACCMODE;
}

function flagsOf(fd: number): number {
  return Number.parseInt(/^flags:\s*(\d+)/m.exec(infoOf(fd))?.[1] ?? '', 8);
}

function infoOf(fd: number): string {
  return readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1');
}

const ELSEWHERE = 'name another folder for temporary files with TMPDIR';

/** Bytes that are read from a temporary file at once, or fewer. */
const PIECE_BYTES = 256 * 1024;

/** A temporary file that has no name, so that a run that is killed leaves nothing. On Windows it has one until it is closed. */
export class NamelessFile implements Disposable {
  readonly fd: number;
  readonly #path: string;
  readonly #writer: FileWriter;

  /**
   * @param what tells the files of a user's folder apart
   * @throws TtsError (output), here and in the methods
   */
  constructor(what: string) {
    this.#path = join(tmpdir(), `tts-${what}-${randomUUID()}`);
    this.fd = this.writing(() => openSync(this.#path, 'wx+', PRIVATE));
    this.#writer = new FileWriter(this.fd, this.#path, ELSEWHERE);
    this.#remove();
  }

  /** @throws TtsError (output) in place of the system's error */
  writing<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      throw unwritable(this.#path, error, ELSEWHERE);
    }
  }

  write(piece: Uint8Array): void {
    this.#writer.write(piece);
  }

  /** Writes what is still buffered. */
  flush(): void {
    this.#writer.flush();
  }

  /** @returns all that was written, in pieces of whole frames */
  async *read(frameBytes: number): AsyncGenerator<Uint8Array> {
    this.flush();
    const size = PIECE_BYTES - (PIECE_BYTES % frameBytes);
    for (let at = 0; ; at += size) {
      const piece = new Uint8Array(size);
      const read = readSync(this.fd, piece, 0, size, at);
      if (read > 0) yield piece.subarray(0, read);
      if (read < size) return;
      await yieldToEventLoop();
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
    this.#remove();
  }

  #remove(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // Windows does not remove an open file.
    }
  }
}
