import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { ExitCode, TtsError, usageError } from '../error.ts';
import { putInPlace } from '../settings/replace-file.ts';

/** A file that says where the service listens. Whoever waits for it finds it whole, or not at all. */
export class ReadyFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes away what is not true any more: what this run wrote, or an earlier one that was killed. */
  async clear(): Promise<void> {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (found && !found.isFile())
      throw usageError(
        `--ready-file ${this.#path} is no ordinary file`,
        'name one: it is made, and removed again',
      );
    await this.#orFail(rm(this.#path, { force: true }));
  }

  async write(text: string): Promise<void> {
    await this.#orFail(putInPlace(this.#path, text));
  }

  async #orFail(done: Promise<void>): Promise<void> {
    try {
      await done;
    } catch (cause) {
      throw new TtsError(`cannot write ${this.#path}`, {
        exitCode: ExitCode.output,
        hint: 'choose another place with --ready-file',
        cause,
      });
    }
  }
}
