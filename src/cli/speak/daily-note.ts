import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ageOf } from '../../age.ts';
import { makeFolder, ownCacheFolder } from '../../files/folders.ts';
import { readOwn } from '../../files/own-file.ts';
import type { Host } from '../../host.ts';

const DAY_MS = 86_400_000;

/**
 * Remembers the text for a day.
 * @returns false if it was shown within the last day. Without a place to remember that, it is shown each time.
 */
export function isNewToday(text: string, host: Pick<Host, 'env' | 'home' | 'platform' | 'uid'>): boolean {
  const folder = ownCacheFolder(host);
  if (folder === undefined) return true;
  const path = join(folder, 'told');
  try {
    if (readOwn(path, host.uid) === text && ageOf(statSync(path).mtimeMs) < DAY_MS) return false;
  } catch {}
  try {
    makeFolder(folder);
    rmSync(path, { force: true });
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch {}
  return true;
}
