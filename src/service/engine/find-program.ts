import { access, constants } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';

/**
 * @param path folders as in the environment variable `PATH`
 * @returns the whole name of the first program of this name that may be run
 */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const file = resolve(folder, name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
