import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes an empty folder that is removed after the test, or with `afterAll` after all tests of the file. */
export function emptyFolder(after: (remove: () => void) => void = onTestFinished, parent = tmpdir()): string {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'tts-test-'));
  // Retries, since a process that the test ended may still be writing there.
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** The paths of all files below a folder, relative to it. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

/** The paths of the files below a folder that contain a text. */
export function filesWith(text: string, folder: string): string[] {
  return filesBelow(folder).filter((name) => readFileSync(join(folder, name)).includes(text));
}
