import { isAbsolute, join, resolve } from 'node:path';
import type { Host } from '../host.ts';

/** The folder for what can be made again, by the platform's custom: `~/.cache/tts` under Linux. */
export function cacheFolder({ env, home, platform }: Pick<Host, 'env' | 'home' | 'platform'>): string {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = env;
  // The XDG Base Directory Specification wants relative paths to be ignored.
  if (xdg && isAbsolute(xdg)) return join(xdg, 'tts');
  if (platform === 'win32') return join(local || join(home, 'AppData', 'Local'), 'tts', 'Cache');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'tts');
  return join(home, '.cache', 'tts');
}

/** The folder of the segment cache: `TTS_CACHE_DIR` as it is, else a folder of its own in {@link cacheFolder}. */
export function segmentFolder(host: Pick<Host, 'env' | 'home' | 'platform' | 'cwd'>): string {
  const { TTS_CACHE_DIR: named } = host.env;
  return named ? resolve(host.cwd, named) : join(cacheFolder(host), 'segments');
}
