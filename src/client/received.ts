/** Above this many bytes waiting for their reader, the connection is read no further. */
const MOST_BYTES = 1 << 20;
/** What a piece costs beside its bytes; a service may send its answer byte by byte. */
const PIECE_BYTES = 256;
/** Pieces that are smaller than this on average are put together: nobody behind has to think of them. */
const SMALL_BYTES = 1024;

/** What came of a body and waits for its reader. */
export class Received {
  #pieces: Buffer[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  get isFull(): boolean {
    return this.#bytes + this.#pieces.length * PIECE_BYTES >= MOST_BYTES;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  /** Hands out everything, in order. */
  take(): Buffer[] {
    const pieces = this.#pieces;
    const areSmall = pieces.length > 1 && this.#bytes < pieces.length * SMALL_BYTES;
    this.#pieces = [];
    this.#bytes = 0;
    return areSmall ? [Buffer.concat(pieces)] : pieces;
  }
}
