import { spawnSync } from 'node:child_process';

/** What needs limits of a running process is skipped where they cannot be set. */
export const hasPrlimit = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0;

/**
 * Sets or tells limits of a process, as prlimit(1) does.
 * @param uid who does it; somebody else than root for a process of his own
 * @returns what was told
 */
export function prlimit(pid: number | undefined, args: readonly string[], uid?: number): string {
  const who = uid === undefined ? {} : { uid, gid: uid };
  const { status, stdout, stderr } = spawnSync('prlimit', [`--pid=${pid}`, ...args], who);
  if (status !== 0) throw new Error(String(stderr));
  return String(stdout).trim();
}
