import { mkdirSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { codeOf, type TtsError, usageError } from '../error.ts';
import type { Host } from '../host.ts';
import { fromHome, pathOf } from './paths.ts';
import { unwritable } from './writable.ts';

/**
 * Makes level after level: `recursive` never returns below some special folders (/proc, Node 20 to 26).
 * @param mode of the folders that are made; without one, only the user gets in
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
  try {
    makeFolder(folder, 0o777);
  } catch (error) {
    throw unwritable(folder, error);
  }
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

const ROOT = 0;

type User = Pick<Host, 'env' | 'home' | 'platform'>;

export function cacheFolder({ env, home, platform }: User): string | undefined {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = env;
  // XDG Base Directory Specification: relative paths are ignored.
  if (xdg && isAbsolute(xdg)) return join(xdg, 'tts');
  if (platform === 'win32' && local) return join(local, 'tts', 'Cache');
  if (home === undefined) return undefined;
  if (platform === 'win32') return join(home, 'AppData', 'Local', 'tts', 'Cache');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'tts');
  return join(home, '.cache', 'tts');
}

/** @returns `undefined` also for a folder of another user: root may have their HOME, and they would not get in afterwards */
export function ownCacheFolder({ uid, ...user }: User & Pick<Host, 'uid'>): string | undefined {
  const folder = cacheFolder(user);
  return folder !== undefined && isOwnedBy(uid, folder) ? folder : undefined;
}

/** A folder that is missing would belong to the owner of the one above it. */
function isOwnedBy(uid: number | undefined, folder: string): boolean {
  if (uid === undefined) return true;
  try {
    const owner = statSync(folder).uid;
    return owner === uid || owner === ROOT;
  } catch (error) {
    return codeOf(error) === 'ENOENT' && isOwnedBy(uid, dirname(folder));
  }
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
 * Installed voices lie here, and the runtime that speaks them. A cache may be emptied at any time, and this may not.
 * @returns `undefined` for a user without a home
 * @throws TtsError (usage)
 */
export function dataFolder(host: User & Pick<Host, 'cwd'>): string | undefined {
  const { env, home, platform } = host;
  const { TTS_DATA_DIR: named, XDG_DATA_HOME: xdg, LOCALAPPDATA: local } = env;
  if (named) return located(named, 'TTS_DATA_DIR', host);
  if (xdg && isAbsolute(xdg)) return join(xdg, 'tts');
  if (platform === 'win32' && local) return join(local, 'tts', 'Data');
  if (home === undefined) return undefined;
  if (platform === 'win32') return join(home, 'AppData', 'Local', 'tts', 'Data');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'tts');
  return join(home, '.local', 'share', 'tts');
}

function located(named: string, variable: string, { home, cwd }: Pick<Host, 'home' | 'cwd'>): string {
  const name = fromHome(named, home);
  try {
    return pathOf(cwd, name);
  } catch (cause) {
    throw usageError(`there is no ${name} (${variable})`, `correct the name, or unset ${variable}`, cause);
  }
}
