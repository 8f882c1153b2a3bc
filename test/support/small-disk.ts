import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { Sandbox } from './run.ts';

/**
 * A folder with a disk of its own, until the test has ended. Where nobody may mount, the test is skipped.
 * @param room as in `mount -o`, such as `size=200k`
 * @returns its absolute path
 */
export function smallDisk(box: Sandbox, name: string, room: string, skip: (note: string) => never): string {
  const folder = box.path(name);
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', room, 'tmpfs', folder], { stdio: 'pipe' });
  } catch {
    skip('no right to mount here');
  }
  onTestFinished(() => void execFileSync('umount', [folder]));
  return folder;
}
