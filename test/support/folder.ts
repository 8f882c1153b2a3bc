import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own for a test, removed after it; or after all tests of a file, for `afterAll`. */
export function emptyFolder(after: (remove: () => void) => void = onTestFinished, parent = tmpdir()): string {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'tts-test-'));
  // A process that the test ended may still be about to write there.
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** All files below a folder, by their names from there. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

/** The files below a folder that hold some text. */
export function filesWith(text: string, folder: string): string[] {
  return filesBelow(folder).filter((name) => readFileSync(join(folder, name)).includes(text));
}
