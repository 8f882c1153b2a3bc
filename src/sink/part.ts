import { openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Host } from '../host.ts';
import { besideFile, shortName } from '../part-name.ts';

/** Who writes a part: what tells the parts of runs at the same time apart, and those of runs that are over. */
export type Run = Pick<Host, 'pid' | 'machine' | 'isRunning'>;

export interface Part {
  readonly fd: number;
  readonly path: string;
}

/** A part that nobody has written to for so long is nobody's. */
const ABANDONED_AFTER_MS = 3_600_000;

/** Behind the name of the target: process, machine, and a number where both are taken. */
const ENDING = /^(?<pid>\d+)-(?<machine>[0-9a-f]{4})(?:-\d+)?\.part$/;

/**
 * A new file beside the target, `NAME.PID-MACHINE.part`. Containers that share a folder may agree in both, so a name
 * that is taken is left to its owner.
 */
export function createPart(target: string, { pid, machine }: Run): Part {
  for (let number = 0; ; number += 1) {
    const path = besideFile(target, `${pid}-${tagOf(machine)}${number > 0 ? `-${number}` : ''}.part`);
    try {
      return { fd: openSync(path, 'wx+'), path };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** A run that was killed could not tidy up: what it left is removed by the next one for the same file. */
export function removeLeftovers(target: string, run: Run): void {
  const prefix = `${shortName(target)}.`;
  for (const name of readdirSync(dirname(target))) {
    const found = name.startsWith(prefix) ? ENDING.exec(name.slice(prefix.length))?.groups : undefined;
    const path = join(dirname(target), name);
    if (found && isOver(found, path, run)) rmSync(path, { force: true });
  }
}

/** Processes elsewhere cannot be seen, nor a namesake in another container: there only time tells. */
function isOver({ pid, machine }: Record<string, string>, path: string, run: Run): boolean {
  if (machine === tagOf(run.machine) && Number(pid) !== run.pid) return !run.isRunning(Number(pid));
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS;
}

/** Short, since names of files are bounded. */
function tagOf(machine: string): string {
  return (crc32(machine) & 0xffff).toString(16).padStart(4, '0');
}
