import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { usageError } from '../../error.ts';
import { isWithin, leadsBelow, realOf } from '../../files/own-file.ts';
import { fromHome } from '../../files/paths.ts';
import type { Host } from '../../host.ts';
import { lookAt } from '../../reading/source.ts';
import { PROJECT_PLACES, userFolder } from '../../settings/config-places.ts';
import { keyFilesIn } from '../../settings/key.ts';
import type { LoadedSettings } from '../../settings/load.ts';

/** A table may come from somebody else: what its column `file` names is sent to a service. */
export class TextFiles {
  readonly #host: Host;
  readonly #loaded: LoadedSettings;
  /** The command line allows this folder as well. */
  readonly #from: string | undefined;

  /** @throws TtsError (usage) for a folder that is not there */
  constructor(host: Host, loaded: LoadedSettings, from: string | undefined) {
    this.#host = host;
    this.#loaded = loaded;
    this.#from = from === undefined ? undefined : realFolder(from, host);
  }

  /**
   * @param cell relative to the folder of the table
   * @throws TtsError (usage)
   */
  pathOf(cell: string, table: string): string {
    const { cwd } = this.#host;
    const folder = resolve(cwd, table === 'stdin' ? '' : dirname(table));
    const path = resolve(folder, cell);
    const folders = [realOf(folder), this.#from];
    if (!folders.some((each) => each !== undefined && leadsBelow(each, path)))
      throw usageError(
        `${cell} lies outside of the folder of its table`,
        'if you mean it, name the folder that holds it: --files-from FOLDER',
      );
    const found = lookAt(path, cwd);
    if (!found.isFile()) throw usageError(`${cell} is not a file`, 'name a file that holds text');
    if (this.#isPrivate(realOf(path) ?? path, found))
      throw usageError(`${cell} holds settings or a key of tts`, 'name a file that holds text');
    assertReadable(path, cell);
    return path;
  }

  #isPrivate(real: string, found: Stats): boolean {
    const own = userFolder(this.#host);
    if (own !== undefined && isWithin(realOf(own) ?? own, real)) return true;
    if (PROJECT_PLACES.some((place) => place !== 'package.json' && real.endsWith(sep + place))) return true;
    return [...this.#privateFiles()].some((path) => {
      const stats = statsOf(path);
      return stats?.ino === found.ino && stats.dev === found.dev;
    });
  }

  *#privateFiles(): Generator<string> {
    const { settings, files } = this.#loaded;
    for (const { path } of files) yield resolve(this.#host.cwd, path);
    for (const { path } of keyFilesIn(settings, this.#host)) yield path;
  }
}

/** A key file that cannot be looked at ends only a run that reads it. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realFolder(name: string, { cwd, home }: Host): string {
  const path = resolve(cwd, fromHome(name, home));
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const real = isFolder ? realOf(path) : undefined;
  if (real !== undefined) return real;
  throw usageError(`--files-from ${name}: there is no such folder`, 'name the folder that holds the texts');
}

function assertReadable(path: string, cell: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw usageError(`cannot read ${cell}: it is not allowed`, 'check its permissions', cause);
  }
}
