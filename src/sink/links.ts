import { linkSync, lstatSync, readlinkSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Behind a symbolic link it is the file that is made or replaced, not the link. */
export function behindLinks(path: string): string {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  return behindLinks(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

/** Unlike a rename, a link never takes the place of a file that came up meanwhile. */
export function linkAs(part: string, target: string): void {
  try {
    linkSync(part, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || statSync(target, { throwIfNoEntry: false }))
      throw error;
    // A file system without hard links.
    renameSync(part, target);
    return;
  }
  try {
    rmSync(part);
  } catch {
    // The file has its name, and this one is removed by the next run for it.
  }
}
