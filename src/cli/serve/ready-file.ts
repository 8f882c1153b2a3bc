import { statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { bareHost } from '../../address.ts';
import { ExitCode, TtsError, usageError } from '../../error.ts';
import { replaceFile } from '../../files/atomic-file.ts';
import { pathOf } from '../../files/paths.ts';

/** Milliseconds. A refused connection is known at once. */
const PATIENCE_MS = 1000;

/** Says where the service listens. It appears in one step. */
export class ReadyFile {
  readonly #name: string;
  readonly #cwd: string;
  #text: string | undefined;

  constructor(name: string, cwd: string) {
    this.#name = name;
    this.#cwd = cwd;
  }

  /**
   * Removes the file of a killed service, and leaves that of a running one.
   * @throws TtsError for what is not a file
   */
  async check(): Promise<void> {
    await this.#orFail(async (path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      if (!found) return;
      if (!found.isFile())
        throw usageError(
          `--ready-file ${this.#name} is not an ordinary file`,
          'name one: it is made, and removed again',
        );
      if (!(await isListening(await readFile(path, 'utf8')))) await rm(path, { force: true });
    });
  }

  async write(text: string): Promise<void> {
    await this.#orFail((path) => replaceFile(path, text, 0o666));
    this.#text = text;
  }

  /** Removes the file of this service. Another one may have written the file in the meantime. */
  async clear(): Promise<void> {
    if (this.#text === undefined) return;
    await this.#orFail(async (path) => {
      if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return;
      if ((await readFile(path, 'utf8')) === this.#text) await rm(path, { force: true });
    });
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

/** Only a refused connection proves that nothing listens. */
async function isListening(text: string): Promise<boolean> {
  if (!URL.canParse(text.trim())) return false;
  const { hostname, port } = new URL(text.trim());
  const socket = connect({ host: bareHost(hostname), port: Number(port) });
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined)).once('error', resolve);
    socket.setTimeout(PATIENCE_MS, () => resolve(undefined));
  });
  socket.destroy();
  return error?.code !== 'ECONNREFUSED';
}
