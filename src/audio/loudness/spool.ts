import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { yieldToEventLoop } from '../../async.ts';
import { FileWriter } from '../../files/block-writer.ts';
import { unwritable } from '../../files/writable.ts';

const PIECE_BYTES = 256 * 1024;

/** Sound that waits on the disk. */
export class Spool implements AsyncDisposable {
  readonly #fd: number;
  readonly #folder: string;
  readonly #writer: FileWriter;

  private constructor(folder: string, fd: number) {
    this.#folder = folder;
    this.#fd = fd;
    this.#writer = new FileWriter(fd, join(folder, 'sound'));
  }

  /** @throws TtsError (output) */
  static async open(): Promise<Spool> {
    try {
      const folder = await mkdtemp(join(tmpdir(), 'tts-'));
      const spool = new Spool(folder, openSync(join(folder, 'sound'), 'wx+', 0o600));
      // A run that is killed leaves nothing; Windows removes no file that is open.
      spool.#remove();
      return spool;
    } catch (error) {
      throw unwritable(tmpdir(), error);
    }
  }

  write(piece: Uint8Array): void {
    this.#writer.write(piece);
  }

  /** @returns all that was written, in pieces of whole frames */
  async *read(frameBytes: number): AsyncGenerator<Uint8Array> {
    this.#writer.flush();
    const size = PIECE_BYTES - (PIECE_BYTES % frameBytes);
    for (let at = 0; ; at += size) {
      const piece = new Uint8Array(size);
      const read = readSync(this.#fd, piece, 0, size, at);
      if (read > 0) yield piece.subarray(0, read);
      if (read < size) return;
      await yieldToEventLoop();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    closeSync(this.#fd);
    this.#remove();
  }

  #remove(): void {
    try {
      rmSync(this.#folder, { recursive: true, force: true });
    } catch {}
  }
}
