import { writeSync, writevSync } from 'node:fs';
import { unwritable } from './writable.ts';

/** Bytes. The cost of a system call does not count for pieces of this size. */
const BATCH_BYTES = 1 << 20;

/** Writes synchronously: another thread costs more than a copy into the system's cache. */
export class FileWriter {
  readonly #fd: number;
  readonly #name: string;
  #batch: Uint8Array[] = [];
  #batched = 0;

  constructor(fd: number, name: string) {
    this.#fd = fd;
    this.#name = name;
  }

  /** @throws TtsError (output); the cause may be an earlier piece */
  write(piece: Uint8Array): void {
    if (piece.length > 0) this.#batch.push(piece);
    this.#batched += piece.length;
    if (this.#batched >= BATCH_BYTES) this.flush();
  }

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
