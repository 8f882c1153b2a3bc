import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fsync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ExitCode, TtsError } from '../error.ts';
import { unwritable } from './unwritable.ts';

const sync = promisify(fsync);

export interface FileOptions {
  /** As the user named it. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** The file that is there now, which will be replaced. */
  readonly old: Stats | undefined;
  readonly clobber: boolean;
  /** Tells the parts of runs at the same time apart. */
  readonly pid: number;
  readonly isRunning: (pid: number) => boolean;
}

/**
 * A file that appears in one step: it is written as a neighbour, `NAME.PID.part`, which takes the name when all of it is
 * on the disk. Until then the old file stays as it is, whatever happens.
 * @throws TtsError (output) when the file could not be written
 */
export class PartFile {
  readonly fd: number;
  /** Where the part lies. */
  readonly path: string;
  readonly #options: FileOptions;
  readonly #target: string;
  #isOpen = true;

  constructor(options: FileOptions) {
    const { path, pid } = options;
    this.#options = options;
    this.#target = behindLinks(path);
    this.path = `${this.#target}.${pid}.part`;
    this.fd = this.#open();
  }

  /** Gives the file its name. */
  async publish(signal: AbortSignal): Promise<void> {
    const { name, old, clobber } = this.#options;
    try {
      if (old) fchmodSync(this.fd, old.mode & 0o777);
      await sync(this.fd);
      signal.throwIfAborted();
      if (clobber) renameSync(this.path, this.#target);
      else linkAs(this.path, this.#target);
      this.#close();
    } catch (error) {
      this.discard();
      if (signal.aborted) throw signal.reason;
      throw unwritable(name, (error as NodeJS.ErrnoException).code === 'EEXIST' ? exists(name) : error);
    }
  }

  /** Leaves no trace. Without effect on what is published. */
  discard(): void {
    if (!this.#isOpen) return;
    this.#close();
    rmSync(this.path, { force: true });
  }

  #open(): number {
    const { name, old, clobber, pid, isRunning } = this.#options;
    try {
      if (old) accessSync(this.#target, constants.W_OK);
      if (old && !clobber) throw exists(name);
      removeLeftovers(this.#target, (other) => other !== pid && isRunning(other));
      return openSync(this.path, 'wx+');
    } catch (error) {
      throw unwritable(name, error);
    }
  }

  #close(): void {
    this.#isOpen = false;
    closeSync(this.fd);
  }
}

/** Behind a symbolic link it is the file that is made or replaced, not the link. */
function behindLinks(path: string): string {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  return behindLinks(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

/** Unlike a rename, a link never takes the place of a file that came up meanwhile. */
function linkAs(part: string, target: string): void {
  try {
    linkSync(part, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || statSync(target, { throwIfNoEntry: false }))
      throw error;
    // A file system without hard links.
    renameSync(part, target);
    return;
  }
  rmSync(part);
}

/** A run that was killed could not tidy up: what it left is removed by the next one for the same file. */
function removeLeftovers(target: string, isRunning: (pid: number) => boolean): void {
  const prefix = `${basename(target)}.`;
  for (const name of readdirSync(dirname(target))) {
    const pid = name.startsWith(prefix) ? /^(\d+)\.part$/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(dirname(target), name), { force: true });
  }
}

function exists(name: string): TtsError {
  return new TtsError(`${name} exists`, {
    exitCode: ExitCode.output,
    hint: 'choose another name, or leave out --no-clobber',
  });
}
