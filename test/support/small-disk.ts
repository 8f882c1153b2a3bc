import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { Sandbox } from './run.ts';

/**
 * Mounts a small disk on a folder until the end of the test. If mounting is not allowed, the test is skipped.
 * @param room mount options such as `size=200k`
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
