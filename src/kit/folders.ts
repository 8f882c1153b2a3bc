import {
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statfsSync,
} from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { codeOf, ExitCode, TtsError, usageError } from './error.ts';
import type { Host, ProgramHost } from './host.ts';

/** Resolves `~` in a name that no shell has expanded. */
export function fromHome(name: string, home: string | undefined): string {
  return name.replace(/^~(?=[/\\]|$)/, () => home ?? '~');
}

/**
 * Resolves a name as the system does: `link/..` leads to the parent of the link's target, while `resolve` alone drops it.
 * @throws the system's error if a folder before ".." is missing
 */
export function pathOf(cwd: string, name: string): string {
  if (!/(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name)) return resolve(cwd, name);
  const whole = isAbsolute(name) ? name : `${cwd}${sep}${name}`;
  return join(realpathSync.native(dirname(whole)), basename(whole));
}

/** @returns an empty list for a folder that does not exist or cannot be read */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Follows links, even to a file that does not exist yet. */
export function linkTarget(path: string): string {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  return linkTarget(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

/**
 * @param name with a folder, it is not searched for; without `.exe` on Windows, it is added
 * @returns the absolute path of the first program of this name in the folders of `PATH`
 */
export async function findProgram(name: string, { env, platform }: ProgramHost): Promise<string | undefined> {
  const folders = basename(name) === name ? (env.PATH ?? '').split(delimiter).filter(Boolean) : [''];
  const ending = platform === 'win32' && !/\.exe$/i.test(name) ? '.exe' : '';
  for (const folder of folders) {
    const file = resolve(folder, `${name}${ending}`);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** Stands for the caller's own hint on where else to write. */
const ELSEWHERE = Symbol();

/** The numbers of EDQUOT on Linux, and on macOS and BSD. Node 20 has no name for them. */
const QUOTA = new Set([-122, -69]);

const reasons = new Map<string, [reason: string, ...remedies: (string | typeof ELSEWHERE)[]]>([
  ['ENOSPC', ['no space is left there', 'free some space', ELSEWHERE]],
  ['EDQUOT', ['the disk quota is used up', 'free some space', ELSEWHERE]],
  ['EFBIG', ['a file may not grow that large here', 'see ulimit -f', ELSEWHERE]],
  ['EACCES', ['permission denied', 'check the permissions', ELSEWHERE]],
  ['EPERM', ['permission denied', 'check the permissions', ELSEWHERE]],
  ['EROFS', ['the file system is read-only', ELSEWHERE]],
  ['ENOENT', ['the folder does not exist', 'make the folder first']],
  ['ENAMETOOLONG', ['the name is too long', 'choose a shorter one']],
  ['ELOOP', ['its symbolic links form a loop', 'correct the links', ELSEWHERE]],
  ['ENOTDIR', ['a part of its path is not a folder', 'check the path']],
  ['EISDIR', ['it is a folder', 'add a file name']],
  ['EBADF', ['it is closed, or open for reading only', 'redirect it to a file or a pipe, or use -o']],
  ['ENXIO', ['there is no such device', ELSEWHERE]],
  ['EIO', ['the device reports an error', ELSEWHERE]],
]);

export function unwritable(name: string, cause: unknown, elsewhere = 'write elsewhere with -o'): TtsError {
  return unusable(`cannot write ${name}`, cause, elsewhere);
}

function unusable(what: string, cause: unknown, elsewhere: string): TtsError {
  if (cause instanceof TtsError) return cause;
  if (!(cause instanceof Error && 'code' in cause)) throw cause;
  const code = 'errno' in cause && QUOTA.has(Number(cause.errno)) ? 'EDQUOT' : String(cause.code);
  const [reason, ...remedies] = reasons.get(code) ?? [code, ELSEWHERE];
  const hint = remedies.map((remedy) => (remedy === ELSEWHERE ? elsewhere : remedy)).join(', or ');
  return new TtsError(`${what}: ${reason}`, { exitCode: ExitCode.output, hint, cause });
}

/** @throws TtsError (output) instead of the system's error */
export function writing<T>(name: string, write: () => T, elsewhere?: string): T {
  try {
    return write();
  } catch (error) {
    throw unwritable(name, error, elsewhere);
  }
}

/**
 * Reads in a folder for output.
 * @param folder named in the message if the system's error names no file
 * @throws TtsError (output) instead of the system's error
 */
export async function reading<T>(folder: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const { path = folder } = Object(error) as NodeJS.ErrnoException;
    throw unusable(`cannot read ${path}`, error, 'choose another folder with -o');
  }
}

const whyUnread = new Map([
  ['ENOENT', 'there is no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EAGAIN', 'reading it would block for ever'],
]);

/** Returns why a file could not be read, in words where the system has only a code. */
export function reasonUnread(cause: unknown): string {
  const code = codeOf(cause);
  return whyUnread.get(code) ?? (code || (cause as Error).message);
}

export function systemError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

/** Error codes of a write to a pipe or socket whose reader is gone. */
const READER_GONE = new Set([
  'EPIPE',
  'ECONNRESET',
  'EOF',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
]);

export function isReaderGone(error: Error): boolean {
  return READER_GONE.has(codeOf(error));
}

/**
 * Makes a folder and all missing ones above it. Node's `recursive` never returns below some special folders (/proc, Node 20
 * to 26).
 * @param mode of the new folders; by default, only the user has access
 * @throws the system's error
 */
export function makeFolder(folder: string, mode = 0o700): void {
  if (!whyNotMade(folder, mode)) return;
  makeFolder(dirname(folder), mode);
  const reason = whyNotMade(folder, mode);
  if (reason) throw reason;
}

/**
 * Makes a folder for files that the user asked for.
 * @throws TtsError (output)
 */
export function makeOutputFolder(folder: string): void {
  writing(folder, () => makeFolder(folder, 0o777));
}

function whyNotMade(folder: string, mode: number): unknown {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' && dirname(folder) !== folder) return error;
    if (code !== 'EEXIST') throw error;
  }
  return undefined;
}

/**
 * Returns the free bytes on the disk of a folder, which need not exist yet.
 * @returns `undefined` if the system does not tell
 */
export function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(folder);
    return codeOf(error) === 'ENOENT' && parent !== folder ? freeBytes(parent) : undefined;
  }
}

type User = Pick<Host, 'env' | 'home' | 'platform'>;

const PLACES = {
  cache: { xdg: 'XDG_CACHE_HOME', windows: 'Cache', mac: 'Caches', other: '.cache' },
  data: { xdg: 'XDG_DATA_HOME', windows: 'Data', mac: 'Application Support', other: '.local/share' },
} as const;

function folderFor(kind: keyof typeof PLACES, { env, home, platform }: User): string | undefined {
  const { xdg, windows, mac, other } = PLACES[kind];
  const named = env[xdg];
  // XDG Base Directory Specification: relative paths are ignored.
  if (named && isAbsolute(named)) return join(named, 'tts');
  if (platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'tts', windows);
  if (home === undefined) return undefined;
  if (platform === 'win32') return join(home, 'AppData', 'Local', 'tts', windows);
  return platform === 'darwin' ? join(home, 'Library', mac, 'tts') : join(home, other, 'tts');
}

export function cacheFolder(user: User): string | undefined {
  return folderFor('cache', user);
}

export function segmentFolder(host: User & Pick<Host, 'cwd'>): string | undefined {
  const { TTS_CACHE_DIR: named } = host.env;
  if (named) return located(named, 'TTS_CACHE_DIR', host);
  const folder = cacheFolder(host);
  return folder === undefined ? undefined : join(folder, 'segments');
}

export function noSegmentFolder(): TtsError {
  return usageError(
    'there is no folder for the cache: HOME names none',
    'set HOME, or name one with TTS_CACHE_DIR',
  );
}

/**
 * Returns the folder of installed voices and their runtime. Unlike a cache, it must not be emptied.
 * @returns `undefined` for a user without a home
 * @throws TtsError (usage)
 */
export function dataFolder(host: User & Pick<Host, 'cwd'>): string | undefined {
  const { TTS_DATA_DIR: named } = host.env;
  return named ? located(named, 'TTS_DATA_DIR', host) : folderFor('data', host);
}

function located(named: string, variable: string, { home, cwd }: Pick<Host, 'home' | 'cwd'>): string {
  const name = fromHome(named, home);
  try {
    return pathOf(cwd, name);
  } catch (cause) {
    throw usageError(`there is no ${name} (${variable})`, `correct the name, or unset ${variable}`, cause);
  }
}
