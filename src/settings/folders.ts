import { join } from 'node:path';
import type { Host } from '../host.ts';

/** The folder for what can be made again, by the platform's custom: `~/.cache/tts` under Linux. */
export function cacheFolder({ env, home, platform }: Pick<Host, 'env' | 'home' | 'platform'>): string {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'tts');
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'tts', 'Cache');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'tts');
  return join(home, '.cache', 'tts');
}
