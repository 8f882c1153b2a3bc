import { writeSync, writevSync } from 'node:fs';
import { unwritable } from './writable.ts';

/** Bytes. The cost of a system call does not count for blocks of this size. */
const BLOCK_BYTES = 1 << 20;

/** Writes synchronously: another thread costs more than a copy into the system's cache. */
export class FileWriter {
  readonly #fd: number;
  readonly #name: string;
  #block: Uint8Array[] = [];
  #bytes = 0;

  constructor(fd: number, name: string) {
    this.#fd = fd;
    this.#name = name;
  }

  /** @throws TtsError (output); the cause may be an earlier piece */
  write(piece: Uint8Array): void {
    if (piece.length > 0) this.#block.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= BLOCK_BYTES) this.flush();
  }

  flush(): void {
    let left = this.#block;
    this.#block = [];
    this.#bytes = 0;
    try {
      while (left.length > 0) left = after(left, writevSync(this.#fd, left));
    } catch (error) {
      throw unwritable(this.#name, error);
    }
  }
}

export function writeAt(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

function after(pieces: readonly Uint8Array[], written: number): Uint8Array[] {
  let skip = written;
  return pieces.flatMap((piece) => {
    const left = piece.subarray(Math.min(skip, piece.length));
    skip -= piece.length - left.length;
    return left.length > 0 ? [left] : [];
  });
}
