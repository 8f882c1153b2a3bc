import { linkSync, lstatSync, readlinkSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path';

/** A name that no shell has seen, such as one in a variable or a file: there, too, `~/` is the user's own folder. */
export function fromHome(name: string, home: string | undefined): string {
  return name.replace(/^~(?=[/\\])/, () => home ?? '~');
}

/**
 * Where the file of a name is. `resolve` alone takes `link/..` for nothing, though it is the folder above the one that the
 * link leads to: another file would be read, or lost.
 * @throws what the system says where a folder in front of ".." is missing
 */
export function pathOf(cwd: string, name: string): string {
  if (!/(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name)) return resolve(cwd, name);
  const whole = isAbsolute(name) ? name : `${cwd}${sep}${name}`;
  return join(realpathSync.native(dirname(whole)), basename(whole));
}

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

/**
 * @param name one that holds a folder stands for itself, as it does for the system; `.exe` may be left out under Windows
 * @param path folders as in the environment variable `PATH`
 * @returns the whole name of the first program of this name that may be run
 */
export async function findProgram(
  name: string,
  path: string,
  platform: NodeJS.Platform,
): Promise<string | undefined> {
  const folders = basename(name) === name ? path.split(delimiter).filter(Boolean) : [''];
  const ending = platform === 'win32' && !/\.exe$/i.test(name) ? '.exe' : '';
  for (const folder of folders) {
    const file = resolve(folder, `${name}${ending}`);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
