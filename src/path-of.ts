import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';

/**
 * Where the file of a name is. `resolve` alone takes `link/..` for nothing, though it is the folder above the one that the
 * link leads to: another file would be read, or lost.
 * @throws what the system says where a folder in front of ".." is missing
 */
export function pathOf(cwd: string, name: string): string {
  if (!/(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name)) return resolve(cwd, name);
  const whole = isAbsolute(name) ? name : `${cwd}${sep}${name}`;
  return join(realpathSync.native(dirname(whole)), basename(whole));
}
