import { rename, rm, writeFile } from 'node:fs/promises';
import { ExitCode, TtsError } from '../error.ts';
import { besideFile } from '../part-name.ts';

/** A file that says where the service listens. Whoever waits for it finds it whole, or not at all. */
export class ReadyFile {
  readonly #path: string;
  readonly #part: string;

  /** @param pid keeps the parts of two runs apart */
  constructor(path: string, pid: number) {
    this.#path = path;
    this.#part = besideFile(path, `${pid}.part`);
  }

  /** Takes away what is not true any more: what this run wrote, or an earlier one that was killed. */
  async clear(): Promise<void> {
    await this.#orFail(rm(this.#path, { force: true }));
  }

  async write(text: string): Promise<void> {
    await this.#orFail(writeFile(this.#part, text).then(() => rename(this.#part, this.#path)));
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
