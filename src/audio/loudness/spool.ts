import { readSync } from 'node:fs';
import { yieldToEventLoop } from '../../async.ts';
import { FileWriter } from '../../files/block-writer.ts';
import { NamelessFile } from '../../files/nameless-file.ts';

const PIECE_BYTES = 256 * 1024;

/**
 * Sound that waits on the disk.
 * @throws TtsError (output) where that cannot be written, here and in the methods
 */
export class Spool implements Disposable {
  readonly #file = new NamelessFile('sound');
  readonly #writer = new FileWriter(this.#file.fd, this.#file.path);

  write(piece: Uint8Array): void {
    this.#writer.write(piece);
  }

  /** @returns all that was written, in pieces of whole frames */
  async *read(frameBytes: number): AsyncGenerator<Uint8Array> {
    this.#writer.flush();
    const size = PIECE_BYTES - (PIECE_BYTES % frameBytes);
    for (let at = 0; ; at += size) {
      const piece = new Uint8Array(size);
      const read = readSync(this.#file.fd, piece, 0, size, at);
      if (read > 0) yield piece.subarray(0, read);
      if (read < size) return;
      await yieldToEventLoop();
    }
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}
