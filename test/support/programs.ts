import { spawnSync } from 'node:child_process';

/** Whether this machine has a program of that name: what needs one that it lacks is skipped. */
export function isThere(program: string): boolean {
  return spawnSync('which', [program]).status === 0;
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
