import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type OpenEntry, openEntry } from './entry.ts';
import { isEntryName, placeOf } from './entry-name.ts';
import { type Home, isOwnFolder } from './folder.ts';

/** What the system says where nothing is, or a link: what lies behind one is none of the cache's. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/**
 * The entry of a key, open. One that is damaged is removed, and is none.
 * @throws what the system says where one may be, and nobody can look at it
 */
export async function findEntry(home: Home, key: string): Promise<OpenEntry | undefined> {
  const { shard, prefix } = placeOf(key);
  const folder = join(home.folder, shard);
  for (const name of await namesIn({ ...home, folder }, prefix)) {
    const path = join(folder, name);
    try {
      const entry = await openEntry(path, name, key);
      if (entry) return entry;
    } catch (error) {
      if (isAbsent(error)) continue;
      throw error;
    }
    await rm(path, { force: true }).catch(() => {});
  }
  return undefined;
}

/** Names of the entries of one key: one, unless two runs got different sound at the same time. */
async function namesIn({ folder, uid }: Home, prefix: string): Promise<string[]> {
  try {
    if (!(await isOwnFolder(folder, uid))) return [];
    return (await readdir(folder)).filter((name) => name.startsWith(prefix) && isEntryName(name));
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return ABSENT.has((error as NodeJS.ErrnoException).code ?? '');
}
