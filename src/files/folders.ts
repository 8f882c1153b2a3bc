import { mkdirSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { codeOf, type TtsError, usageError } from '../error.ts';
import type { Host } from '../host.ts';
import { fromHome, pathOf } from './paths.ts';

/** Makes level after level: `recursive` never returns below some special folders (/proc, Node 20 to 26). */
export function makeFolder(folder: string): void {
  if (!whyNotMade(folder)) return;
  makeFolder(dirname(folder));
  const reason = whyNotMade(folder);
  if (reason) throw reason;
}

function whyNotMade(folder: string): unknown {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' && dirname(folder) !== folder) return error;
    if (code !== 'EEXIST') throw error;
  }
  return undefined;
}

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

export function segmentFolder(host: User & Pick<Host, 'cwd'>): string | undefined {
  const { TTS_CACHE_DIR: named } = host.env;
  if (named) return located(fromHome(named, host.home), host.cwd);
  const folder = cacheFolder(host);
  return folder === undefined ? undefined : join(folder, 'segments');
}

export function noSegmentFolder(): TtsError {
  return usageError(
    'there is no folder for the cache: HOME names none',
    'set HOME, or name one with TTS_CACHE_DIR',
  );
}

function located(name: string, cwd: string): string {
  try {
    return pathOf(cwd, name);
  } catch (cause) {
    throw usageError(
      `there is no ${name} (TTS_CACHE_DIR)`,
      'correct the name, or unset TTS_CACHE_DIR',
      cause,
    );
  }
}
