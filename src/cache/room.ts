import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../error.ts';

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
