import { modestSize } from '../cache/room.ts';
import { segmentFolder } from '../files/folders.ts';
import type { Host } from '../host.ts';
import type { Settings } from '../settings/resolve.ts';

/** @returns the bytes that the cache may hold: what somebody has set, or what its disk has room for */
export function cacheLimit(
  { cacheSize }: Pick<Settings, 'cacheSize'>,
  host: Pick<Host, 'cwd' | 'env' | 'home' | 'platform'>,
): number {
  const { value, origin } = cacheSize;
  return origin.place === 'default' ? modestSize(value, segmentFolder(host)) : value;
}
