import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, type PlatformPath, relative, resolve, sep } from 'node:path';
import { codeOf, type TtsError, usageError } from './error.ts';
import { cacheFolder, writing } from './folders.ts';
import type { Host } from './host.ts';

type Flags = 'O_RDONLY' | 'O_APPEND';

const ROOT = 0;

/** @param uid of the user, where the system has one */
export function belongsToUser(stats: Stats, uid: number | undefined): boolean {
  return uid === undefined || stats.uid === uid;
}

export function belongsToUserOrRoot(stats: Stats, uid: number | undefined): boolean {
  return belongsToUser(stats, uid) || stats.uid === ROOT;
}

/**
 * Opens a file that the program named, in a folder that somebody else may have made. Follows no link, and does not block
 * on a pipe.
 * @param uid of the user, where the system has one
 * @throws TtsError (usage) unless it is a regular file of the user or of root; the system's error
 */
export function openOwn(path: string, how: Flags, uid: number | undefined, mode = 0o666): number {
  assertRegular(path);
  // Windows lacks the first two.
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_CREAT, O_WRONLY, O_APPEND, O_RDONLY } = constants;
  const access = how === 'O_APPEND' ? O_WRONLY | O_APPEND | O_CREAT : O_RDONLY;
  const fd = openSync(path, access | O_NOFOLLOW | O_NONBLOCK, mode);
  try {
    const opened = fstatSync(fd);
    const named = assertRegular(path);
    if (!isSameFile(opened, named)) throw refused(path, 'was replaced while it was opened');
    // Root may work in a user's folder, as in a container.
    if (uid !== ROOT && !belongsToUserOrRoot(opened, uid)) throw refused(path, 'belongs to another user');
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
 * @returns `undefined` if there is no file
 * @throws TtsError (usage) for a link, a folder, a pipe and a device
 */
export function assertRegular(path: string): Stats | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) throw refused(path, 'is a symbolic link');
  if (stats?.isDirectory()) throw refused(path, 'is a folder');
  if (stats && !stats.isFile()) throw refused(path, 'is a pipe or a device');
  return stats;
}

/** @throws TtsError (usage) for a file with a second name, under which all that is appended would appear as well */
export function assertNoHardLink(fd: number, path: string): void {
  if (fstatSync(fd).nlink > 1) throw refused(path, 'has a second name (a hard link)');
}

function refused(path: string, fault: string): TtsError {
  return usageError(`${path} ${fault}; expected a file of your own`, 'remove it, or choose another folder');
}

export function isSameFile(one: Stats, other: Stats | undefined): boolean {
  return one.ino === other?.ino && one.dev === other.dev;
}

/**
 * Refuses links that may have come with a cloned repository. Those above the working folder are the user's own.
 * @throws TtsError (usage) for a link in a relative name, or in one below the working folder; (output) for a place that
 * cannot be read
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
    const stats = writing(place, () => lstatSync(place, { throwIfNoEntry: false }));
    if (stats?.isSymbolicLink())
      throw usageError(
        `${place} is a symbolic link`,
        'name the place that it leads to by its absolute path, if you mean it',
      );
  }
}

/**
 * @param folder a real path
 * @returns true if the path, after all its links, lies below the folder
 */
export function leadsBelow(folder: string, path: string): boolean {
  const real = realOf(path);
  return real !== undefined && isWithin(folder, real);
}

/** @returns the path without links, of which the end may not exist; `undefined` for a broken link */
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

const WRITTEN_BY_OTHERS = 0o022;

/** @returns true for a folder that belongs to the user or to root, and that no other user can write to */
export function isOwnFolder(folder: string, uid: number | undefined): boolean {
  try {
    const stats = statSync(folder);
    const isSafe = uid === undefined || (stats.mode & WRITTEN_BY_OTHERS) === 0;
    return stats.isDirectory() && belongsToUserOrRoot(stats, uid) && isSafe;
  } catch {
    return false;
  }
}

/** @returns `undefined` also for another user's folder: root may run with their HOME, and lock them out of new folders */
export function ownCacheFolder({
  uid,
  ...user
}: Pick<Host, 'env' | 'home' | 'platform' | 'uid'>): string | undefined {
  const folder = cacheFolder(user);
  return folder !== undefined && wouldBeOwn(folder, uid) ? folder : undefined;
}

/** A missing folder counts as belonging to the owner of the folder above. */
function wouldBeOwn(folder: string, uid: number | undefined): boolean {
  if (uid === undefined) return true;
  try {
    return belongsToUserOrRoot(statSync(folder), uid);
  } catch (error) {
    return codeOf(error) === 'ENOENT' && wouldBeOwn(dirname(folder), uid);
  }
}
