import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own for a test, removed after it; or after all tests of a file, for `afterAll`. */
export function emptyFolder(after: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'tts-test-'));
  // A process that the test ended may still be about to write there.
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
