import { lstatSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { usageError } from '../error.ts';
import { assertRegular, assertUnlinked, leadsBelow, realOf } from '../files/own-file.ts';
import { unwritable } from '../files/writable.ts';

/** It stands for the fixed folder of a template. What a table or a manifest names stays below it. */
export class RowFolder {
  /** It is absolute. */
  readonly path: string;
  #real: string | undefined;
  /** Rows of one folder follow each other. */
  #checked: string | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * @param file a relative path, with "/"
   * @throws TtsError (usage) for a link, and for a folder that leads elsewhere through one; (output) for a file in the place of
   * a folder
   */
  pathOf(file: string): string {
    const path = join(this.path, file);
    const stats = this.#lookAt(path);
    if (!this.#holds(dirname(path)))
      throw usageError(
        `${dirname(path)} leads out of ${this.path} through a symbolic link`,
        'remove the link, or choose another folder with -o',
      );
    if (!stats?.isDirectory()) assertRegular(path);
    return path;
  }

  /** @returns the path of a file that a manifest names; `undefined` unless it is a regular one below the folder */
  find(file: string): string | undefined {
    const path = join(this.path, file);
    try {
      return this.#lookAt(path)?.isFile() && this.#holds(dirname(path)) ? path : undefined;
    } catch {
      return undefined;
    }
  }

  #lookAt(path: string): Stats | undefined {
    try {
      return lstatSync(path, { throwIfNoEntry: false });
    } catch (error) {
      throw unwritable(path, error);
    }
  }

  #holds(folder: string): boolean {
    if (folder === this.#checked) return true;
    this.#real ??= realOf(this.path);
    if (this.#real === undefined || !leadsBelow(this.#real, folder)) return false;
    this.#checked = folder;
    return true;
  }
}

/**
 * @param name the fixed folder of a template
 * @throws TtsError (usage) for a link, (output) for a file in its place, and for what cannot be looked at
 */
export function openRowFolder(name: string, cwd: string): RowFolder {
  assertUnlinked(name, cwd);
  const path = resolve(cwd, name);
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false)
      throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
  } catch (error) {
    throw unwritable(path, error);
  }
  return new RowFolder(path);
}
