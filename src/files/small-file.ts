import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { synced } from './atomic-file.ts';
import { makeFolder } from './folders.ts';
import { besideFile } from './part-name.ts';

/** {@link putInPlace}, for nobody but its owner to read; also where its folder is still to be made. */
export async function replaceFile(path: string, text: string): Promise<void> {
  makeFolder(dirname(path));
  await putInPlace(path, text, 0o600);
}

/**
 * Puts a text in a file's place in one step. What it is called until then cannot be guessed, and never leads elsewhere.
 * @param mode of which the umask takes away
 */
export async function putInPlace(path: string, text: string, mode = 0o666): Promise<void> {
  const part = besideFile(path, `${randomUUID()}.part`);
  try {
    const file = await open(part, 'wx', mode);
    try {
      await file.writeFile(text);
      await synced(file.fd);
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}
