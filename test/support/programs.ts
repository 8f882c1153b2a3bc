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

/**
 * What a program says on stderr.
 * @throws Error unless the program ends by itself, and well: what it did not say means nothing then
 */
export function saidBy(program: string, args: readonly string[]): string {
  const { status, signal, error, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    maxBuffer: 2 ** 28,
  });
  if (status === 0) return stderr;
  throw new Error(`${program} ended with ${signal ?? error ?? status}: ${stderr?.slice(-500)}`);
}
