import { writeSync, writevSync } from 'node:fs';
import { unwritable } from './writable.ts';

/** So large that a system call for each hardly counts. */
const BATCH_BYTES = 1 << 20;

/**
 * Writes pieces to a file, in batches. It waits for each: handing it to another thread costs more than copying a
 * mebibyte into the system's cache.
 */
export class FileWriter {
  readonly #fd: number;
  readonly #name: string;
  #batch: Uint8Array[] = [];
  #batched = 0;

  /** @param name as the user knows it, for messages */
  constructor(fd: number, name: string) {
    this.#fd = fd;
    this.#name = name;
  }

  /** @throws TtsError (output), for this piece or an earlier one */
  write(piece: Uint8Array): void {
    if (piece.length > 0) this.#batch.push(piece);
    this.#batched += piece.length;
    if (this.#batched >= BATCH_BYTES) this.flush();
  }

  /** Hands what was gathered to the system. */
  flush(): void {
    let left = this.#batch;
    this.#batch = [];
    this.#batched = 0;
    try {
      while (left.length > 0) left = after(left, writevSync(this.#fd, left));
    } catch (error) {
      throw unwritable(this.#name, error);
    }
  }
}

/** Writes bytes at an offset of a file, all of them. */
export function writeAt(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

/** What is left of some pieces when so many of their bytes are written. */
function after(pieces: readonly Uint8Array[], written: number): Uint8Array[] {
  let skip = written;
  return pieces.flatMap((piece) => {
    const left = piece.subarray(Math.min(skip, piece.length));
    skip -= piece.length - left.length;
    return left.length > 0 ? [left] : [];
  });
}
