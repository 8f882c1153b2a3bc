import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** It tells whether this machine has a program of that name: what needs one that it lacks is skipped. */
export function isThere(program: string): boolean {
  const isIn = (folder: string) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  return (process.env.PATH ?? '').split(delimiter).some(isIn);
}

/** Whether a program may run under strace, for which the system fails as told: what needs that is skipped elsewhere. */
export function mayTrace(): boolean {
  return spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0;
}

/** False for a process that has ended, also while nobody has asked for its status. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
