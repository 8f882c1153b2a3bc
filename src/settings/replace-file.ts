import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { besideFile } from '../part-name.ts';

/** Puts a text in a file's place in one step, for nobody but its owner to read. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const part = besideFile(path, `${randomUUID()}.part`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const file = await open(part, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
