import {
  linkSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { codeOf } from '../error.ts';

/** Resolves `~` in a name that no shell has expanded. */
export function fromHome(name: string, home: string | undefined): string {
  return name.replace(/^~(?=[/\\])/, () => home ?? '~');
}

/**
 * `resolve` alone drops `link/..`, which the system follows.
 * @throws the system's error if a folder before ".." is missing
 */
export function pathOf(cwd: string, name: string): string {
  if (!/(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name)) return resolve(cwd, name);
  const whole = isAbsolute(name) ? name : `${cwd}${sep}${name}`;
  return join(realpathSync.native(dirname(whole)), basename(whole));
}

/** @returns nothing for a folder that is not there or cannot be read */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function behindLinks(path: string): string {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  return behindLinks(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

/** Unlike a rename, a link replaces no file. */
export function linkAs(part: string, target: string): void {
  try {
    linkSync(part, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || statSync(target, { throwIfNoEntry: false })) throw error;
    // This file system has no hard links.
    renameSync(part, target);
    return;
  }
  try {
    rmSync(part);
  } catch {}
}

/**
 * @param name a name with a folder is not looked up; `.exe` may be missing on Windows
 * @param path the folders, as in `PATH`
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
