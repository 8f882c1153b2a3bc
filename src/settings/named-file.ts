import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { usageError } from '../error.ts';
import { isWithin } from '../files/own-file.ts';
import { fromHome, pathOf } from '../files/paths.ts';
import type { Host } from '../host.ts';
import type { Origin, Setting } from './resolve.ts';

/** The value of an option that was given several times, with one more name. */
export function joinedNames(before: string | undefined, next: string): string {
  return before === undefined ? next : `${before}\n${next}`;
}

/** The settings of the single names. */
export function singleNames({ value, origin }: Setting<string>): readonly Setting<string>[] {
  return value.split('\n').map((name) => ({ value: name, origin }));
}

/**
 * A relative name counts from the folder of its config file.
 * @param byYourself the advice how a user names the file
 * @throws TtsError (usage) for a project's name of a file outside: its contents would go to a server of the project's choice
 */
export function namedFile(
  { value, origin }: Setting<string>,
  { cwd, home }: Pick<Host, 'cwd' | 'home'>,
  byYourself: string,
): string {
  const name = fromHome(value, home);
  const path = found(name, origin, () => pathOf(resolve(cwd, origin.folder ?? ''), name));
  if (origin.place !== 'project') return path;
  // A clone may contain links to any place.
  const real = found(path, origin, () => realpathSync(path));
  if (!isWithin(projectOf(origin), real))
    throw usageError(
      `${origin.name} lies outside of that project`,
      `name it yourself, with ${byYourself} or in your own config`,
    );
  // Only a regular file is read: a pipe in a project may never end.
  if (statSync(real).isFile()) return path;
  throw usageError(
    `${origin.name} is not a regular file`,
    `name it yourself, with ${byYourself} or in your own config`,
  );
}

/** The project of a file in `.config` is the folder around it. */
function projectOf({ folder = '' }: Origin): string {
  return realpathSync(basename(folder) === '.config' ? dirname(folder) : folder);
}

function found(path: string, { name }: Origin, find: () => string): string {
  try {
    return find();
  } catch (cause) {
    throw usageError(
      `there is no ${path} (${name})`,
      'correct the name, or name another file yourself',
      cause,
    );
  }
}
