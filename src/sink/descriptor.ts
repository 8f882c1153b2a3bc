import { write, writev } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unwritable } from './unwritable.ts';

const writevTo = promisify(writev);
const writeTo = promisify(write);

/** Large enough that the system calls do not count, small enough to stay in the processor's cache. */
const BATCH_BYTES = 256 * 1024;

/** Writes pieces to a file descriptor in batches: while one is on its way to the disk, the next is gathered. */
export class DescriptorWriter {
  readonly #fd: number;
  readonly #name: string;
  #batch: Uint8Array[] = [];
  #batched = 0;
  #inFlight: Promise<void> = Promise.resolve();

  /** @param name as the user knows it, for messages */
  constructor(fd: number, name: string) {
    this.#fd = fd;
    this.#name = name;
  }

  /** @throws TtsError (output), for this piece or for an earlier one */
  async write(piece: Uint8Array): Promise<void> {
    this.#batch.push(piece);
    this.#batched += piece.length;
    if (this.#batched >= BATCH_BYTES) await this.#send();
  }

  /** Resolves when everything was handed to the system. */
  async flush(): Promise<void> {
    await this.#send();
    await this.#inFlight;
  }

  /** Resolves when no write is on its way any more, whatever came of it: only then may the descriptor be closed. */
  async idle(): Promise<void> {
    await this.#inFlight.catch(() => {});
  }

  async #send(): Promise<void> {
    await this.#inFlight;
    const batch = this.#batch;
    this.#batch = [];
    this.#batched = 0;
    this.#inFlight = this.#writeAll(batch);
    // A failure is told to the next caller; until then it must not count as unhandled.
    this.#inFlight.catch(() => {});
  }

  async #writeAll(pieces: readonly Uint8Array[]): Promise<void> {
    for (let left = pieces.filter(({ length }) => length > 0); left.length > 0; ) {
      try {
        const { bytesWritten } = await writevTo(this.#fd, left);
        left = after(left, bytesWritten);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw unwritable(this.#name, error);
        await sleep(5);
      }
    }
  }
}

/** Writes bytes at an offset of a file, all of them. */
export async function writeAt(fd: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await writeTo(fd, bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
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
