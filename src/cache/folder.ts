import { lstat, mkdir, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';

/**
 * Makes a folder that is only its owner's business, and those above it that are missing. Several may do so at once.
 * Level by level: making all at once never ends below some special folders (seen for /proc on Node 20 to 26).
 */
export async function makeFolder(folder: string): Promise<void> {
  if (!(await whyNotMade(folder))) return;
  await makeFolder(dirname(folder));
  const reason = await whyNotMade(folder);
  if (reason) throw reason;
}

/** Makes one level. @returns the error where the level above is missing */
async function whyNotMade(folder: string): Promise<unknown> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && dirname(folder) !== folder) return error;
    if (code !== 'EEXIST') throw error;
  }
  return undefined;
}

/** Why a folder cannot hold a cache, in words; `undefined` where nothing speaks against it, or nothing is there yet. */
export async function objectionTo(folder: string): Promise<string | undefined> {
  try {
    const found = await stat(folder);
    if (!found.isDirectory()) return 'it is no folder';
    return isOurs(found.uid) ? undefined : 'it belongs to another user';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? undefined : `it cannot be read (${code})`;
  }
}

/** A folder itself, not a link to one: what lies behind a link is none of the cache's. */
export async function isOwnFolder(path: string): Promise<boolean> {
  const found = await lstat(path);
  return found.isDirectory() && isOurs(found.uid);
}

/** Where users have no numbers (Windows) or this one has no name (containers), nothing can be told apart. */
function isOurs(owner: number): boolean {
  const own = ownNumber();
  return own === -1 || owner === own;
}

let known: number | undefined;

function ownNumber(): number {
  try {
    known ??= userInfo().uid;
  } catch {
    known = -1;
  }
  return known;
}
