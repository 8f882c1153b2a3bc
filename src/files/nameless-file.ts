import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unwritable } from './writable.ts';

/** A temporary file that has no name, so that a run that is killed leaves nothing. On Windows it has one until it is closed. */
export class NamelessFile implements Disposable {
  readonly fd: number;
  /** Messages name the file by it. */
  readonly path: string;

  /**
   * @param what tells the files of a user's folder apart
   * @throws TtsError (output)
   */
  constructor(what: string) {
    this.path = join(tmpdir(), `tts-${what}-${randomUUID()}`);
    this.fd = this.writing(() => openSync(this.path, 'wx+', 0o600));
    this.#remove();
  }

  /** @throws TtsError (output) in place of the system's error */
  writing<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      throw unwritable(this.path, error, 'name another folder for temporary files with TMPDIR');
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
    this.#remove();
  }

  #remove(): void {
    try {
      rmSync(this.path, { force: true });
    } catch {
      // Windows does not remove an open file.
    }
  }
}
