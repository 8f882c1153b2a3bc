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

/** A part that nobody has written to for so long is nobody's. */
const ABANDONED_AFTER_MS = 3_600_000;

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
    this.#options = options;
    this.#target = behindLinks(options.path);
    const { fd, path } = this.#open();
    this.fd = fd;
    this.path = path;
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

  #open(): Part {
    const { name, old, clobber, pid, isRunning } = this.#options;
    try {
      if (old) accessSync(this.#target, constants.W_OK);
      if (old && !clobber) throw exists(name);
      removeLeftovers(this.#target, (other) => other !== pid && isRunning(other));
      return createPart(this.#target, pid);
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

interface Part {
  readonly fd: number;
  readonly path: string;
}

/** Runs in containers may have the same number, and share a folder. */
function createPart(target: string, pid: number): Part {
  for (let number = 0; ; number += 1) {
    const path = `${target}.${pid}${number > 0 ? `-${number}` : ''}.part`;
    try {
      return { fd: openSync(path, 'wx+'), path };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** A run that was killed could not tidy up: what it left is removed by a later one for the same file. */
function removeLeftovers(target: string, isRunning: (pid: number) => boolean): void {
  const prefix = `${basename(target)}.`;
  for (const name of readdirSync(dirname(target))) {
    const pid = name.startsWith(prefix)
      ? /^(\d+)(?:-\d+)?\.part$/.exec(name.slice(prefix.length))?.[1]
      : undefined;
    if (pid === undefined || isRunning(Number(pid))) continue;
    const path = join(dirname(target), name);
    if (isAbandoned(path)) rmSync(path, { force: true });
  }
}

/** The folder may be shared with machines whose processes cannot be seen from here. */
function isAbandoned(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS;
}

function exists(name: string): TtsError {
  return new TtsError(`${name} exists`, {
    exitCode: ExitCode.output,
    hint: 'choose another name, or leave out --no-clobber',
  });
}
