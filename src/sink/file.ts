import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fsync,
  linkSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ExitCode, TtsError } from '../error.ts';
import { record } from './recording.ts';
import type { Sink } from './sink.ts';
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
 * A file that appears in one step: the sound goes to a neighbour, `NAME.PID.part`, which takes the name when all of it is
 * on the disk. Until then the old file stays as it is, whatever happens.
 * @throws TtsError (output) when the file could not be written
 */
export function fileSink({ name, path, old, clobber, pid, isRunning }: FileOptions): Sink {
  // Behind a symbolic link it is the file that is replaced, not the link.
  const target = old ? realpathSync(path) : path;
  const part = `${target}.${pid}.part`;
  const fd = openPart();
  let closed = false;
  const close = () => {
    if (!closed) closeSync(fd);
    closed = true;
  };
  const discard = async () => {
    close();
    rmSync(part, { force: true });
  };
  return {
    isLive: false,
    async write(speech, signal) {
      try {
        const bytes = await record({ fd, name, start: 0, path: part }, speech, signal);
        await publish(signal);
        return { bytes, readerLeft: false };
      } catch (error) {
        await discard();
        throw error;
      } finally {
        close();
      }
    },
    discard,
  };

  function openPart(): number {
    try {
      if (old) accessSync(target, constants.W_OK);
      if (old && !clobber) throw exists(name);
      removeLeftovers(target, (other) => other !== pid && isRunning(other));
      return openSync(part, 'wx+');
    } catch (error) {
      throw unwritable(name, error);
    }
  }

  async function publish(signal: AbortSignal): Promise<void> {
    try {
      if (old) fchmodSync(fd, old.mode & 0o777);
      await sync(fd);
      signal.throwIfAborted();
      if (clobber) renameSync(part, target);
      else linkAs(part, target);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw unwritable(name, (error as NodeJS.ErrnoException).code === 'EEXIST' ? exists(name) : error);
    }
  }
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
