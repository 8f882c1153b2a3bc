import { access, constants, stat } from 'node:fs/promises';
import { basename, delimiter, resolve } from 'node:path';

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
