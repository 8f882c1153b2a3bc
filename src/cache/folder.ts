import { mkdtempSync, rmdirSync } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../files/folders.ts';

/** Where a cache lies, and to whom it has to belong. */
export interface Home {
  /** Absolute. Made when the first segment is written. */
  readonly folder: string;
  /** The user's number; `undefined` where users have none (Windows). */
  readonly uid: number | undefined;
}

/** Why a folder cannot hold a cache, in words; `undefined` where nothing speaks against it, or nothing is there yet. */
export async function objectionTo({ folder, uid }: Home): Promise<string | undefined> {
  try {
    const found = await stat(folder);
    if (!found.isDirectory()) return 'it is no folder';
    return isOurs(found.uid, uid) ? undefined : 'it belongs to another user';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') return `it cannot be read (${code})`;
    // Root would make it in somebody's home (sudo, su), who could not use it afterwards.
    return uid === 0 && dirname(folder) !== folder
      ? objectionTo({ folder: dirname(folder), uid })
      : undefined;
  }
}

/** Why nothing can be stored there, in words, after trying; the folder is made for it. */
export function objectionToWriting(folder: string): string | undefined {
  try {
    makeFolder(folder);
    rmdirSync(mkdtempSync(join(folder, 'try-')));
    return undefined;
  } catch (error) {
    return `nothing can be written there (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** A folder itself, not a link to one: what lies behind a link is none of the cache's. */
export async function isOwnFolder(path: string, uid: Home['uid']): Promise<boolean> {
  const found = await lstat(path);
  return found.isDirectory() && isOurs(found.uid, uid);
}

/** Where users have no numbers, nothing can be told apart. */
function isOurs(owner: number, uid: Home['uid']): boolean {
  return uid === undefined || owner === uid;
}

/** In words; what the system says reads `ENOSPC: no space left on device, write`. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
}
