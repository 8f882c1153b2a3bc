import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** True if this machine has the program; tests that need a missing one are skipped. */
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

/**
 * True if programs can run under strace, which injects failures of system calls; otherwise tests that need it are skipped.
 */
export function mayTrace(): boolean {
  return spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0;
}

/** False for a process that has ended, even if it is still a zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/**
 * Runs a program, and returns its stderr.
 * @throws Error unless it exits with status 0, as otherwise a missing message would mean nothing
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
