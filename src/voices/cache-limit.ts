import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../error.ts';
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

/** A cache without a set size may take this part of the free room. */
const SHARE_OF_DISK = 1 / 10;

/**
 * @param bytes the default size
 * @returns at most a tenth of what is free on the disk of the folder
 */
export function modestSize(bytes: number, folder: string | undefined): number {
  const free = folder === undefined ? undefined : freeBytes(folder);
  return free === undefined ? bytes : Math.min(bytes, Math.floor(free * SHARE_OF_DISK));
}

/** The folder may be missing. */
function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(folder);
    return codeOf(error) === 'ENOENT' && parent !== folder ? freeBytes(parent) : undefined;
  }
}
