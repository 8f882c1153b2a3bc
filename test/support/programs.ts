import { spawnSync } from 'node:child_process';

/** Whether this machine has a program of that name: what needs one that it lacks is skipped. */
export function isThere(program: string): boolean {
  return spawnSync('which', [program]).status === 0;
}

/** Whether a program may run under strace, for which the system fails as told: what needs that is skipped elsewhere. */
export function mayTrace(): boolean {
  return spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0;
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
