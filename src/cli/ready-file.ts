import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { ExitCode, TtsError, usageError } from '../error.ts';
import { pathOf } from '../path-of.ts';
import { putInPlace } from '../settings/replace-file.ts';

/** A file that says where the service listens. Whoever waits for it finds it whole, or not at all. */
export class ReadyFile {
  readonly #name: string;
  readonly #cwd: string;

  constructor(name: string, cwd: string) {
    this.#name = name;
    this.#cwd = cwd;
  }

  /** Takes away what is not true any more: what this run wrote, or an earlier one that was killed. */
  async clear(): Promise<void> {
    await this.#orFail(async (path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      if (found && !found.isFile())
        throw usageError(
          `--ready-file ${this.#name} is no ordinary file`,
          'name one: it is made, and removed again',
        );
      await rm(path, { force: true });
    });
  }

  async write(text: string): Promise<void> {
    await this.#orFail((path) => putInPlace(path, text));
  }

  async #orFail(action: (path: string) => Promise<void>): Promise<void> {
    try {
      await action(pathOf(this.#cwd, this.#name));
    } catch (cause) {
      if (cause instanceof TtsError) throw cause;
      throw new TtsError(`cannot write ${this.#name}`, {
        exitCode: ExitCode.output,
        hint: 'choose another place with --ready-file',
        cause,
      });
    }
  }
}
