import { countReceived } from './collect.ts';

/** Above this many bytes waiting for their reader, the connection is read no further. */
const MOST_BYTES = 1 << 21;
/** Pieces that are smaller are put together where several wait: a service may send its answer byte by byte. */
const SMALL_BYTES = 1024;
/** Of what is put together. */
const BLOCK_BYTES = 1 << 16;

/** What came of a body and waits for its reader. */
export class Received {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** What small pieces are copied to, behind the last of the pieces. */
  #block = Buffer.alloc(0);
  #filled = 0;

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  get isFull(): boolean {
    return this.#bytes >= MOST_BYTES;
  }

  add(piece: Buffer): void {
    if (piece.length >= SMALL_BYTES || this.isEmpty) {
      this.#endBlock();
      this.#pieces.push(piece);
    } else this.#copy(piece);
    this.#bytes += piece.length;
  }

  /** Hands out everything, in order. */
  take(): Buffer[] {
    this.#endBlock();
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    return pieces;
  }

  #copy(piece: Buffer): void {
    if (this.#block.length - this.#filled < piece.length) {
      this.#endBlock();
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      countReceived(BLOCK_BYTES);
    }
    this.#block.set(piece, this.#filled);
    this.#filled += piece.length;
  }

  /** What is filled of it becomes a piece, and the room behind that the next block. */
  #endBlock(): void {
    if (this.#filled === 0) return;
    this.#pieces.push(this.#block.subarray(0, this.#filled));
    this.#block = this.#block.subarray(this.#filled);
    this.#filled = 0;
  }
}
