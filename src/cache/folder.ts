import { lstatSync, mkdtempSync, rmdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../error.ts';
import { makeFolder } from '../files/folders.ts';

export interface Home {
  /** It is an absolute path. */
  readonly folder: string;
  /** It is the number of the user, and `undefined` on Windows. */
  readonly uid: number | undefined;
}

/** @returns the reason why a folder cannot hold a cache; `undefined` also for a missing folder */
export async function objectionTo({ folder, uid }: Home): Promise<string | undefined> {
  try {
    const found = await stat(folder);
    if (!found.isDirectory()) return 'it is not a folder';
    return isOurs(found.uid, uid) ? undefined : 'it belongs to another user';
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT') return `it cannot be read (${code})`;
    // The other user could not use a folder of root's.
    return uid === 0 && dirname(folder) !== folder
      ? objectionTo({ folder: dirname(folder), uid })
      : undefined;
  }
}

/**
 * It makes the folder.
 * @returns the reason why nothing can be written there
 */
export function objectionToWriting(folder: string): string | undefined {
  try {
    makeFolder(folder);
    rmdirSync(mkdtempSync(join(folder, 'try-')));
    return undefined;
  } catch (error) {
    return `nothing can be written there (${codeOf(error)})`;
  }
}

/** False for a link: its target does not belong to the cache. */
export function isOwnFolder(path: string, uid: Home['uid']): boolean {
  const found = lstatSync(path);
  return found.isDirectory() && isOurs(found.uid, uid);
}

function isOurs(owner: number, uid: Home['uid']): boolean {
  return uid === undefined || owner === uid;
}

/** The reason in the system's words, such as `no space left on device`. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
}
