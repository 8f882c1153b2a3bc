import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder that is only its owner's business, and those above it that are missing. Several may do so at once.
 * Level by level: making all at once never ends below some special folders (seen for /proc on Node 20 to 26).
 */
export function makeFolder(folder: string): void {
  if (!whyNotMade(folder)) return;
  makeFolder(dirname(folder));
  const reason = whyNotMade(folder);
  if (reason) throw reason;
}

/** Makes one level. @returns the error where the level above is missing */
function whyNotMade(folder: string): unknown {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && dirname(folder) !== folder) return error;
    if (code !== 'EEXIST') throw error;
  }
  return undefined;
}
