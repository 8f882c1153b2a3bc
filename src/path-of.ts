import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';

/** A name that no shell has seen, such as one in a variable or a file: there, too, `~/` is the user's own folder. */
export function fromHome(name: string, home: string | undefined): string {
  return name.replace(/^~(?=[/\\])/, () => home ?? '~');
}

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
