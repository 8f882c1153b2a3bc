/** Reads a given number of bytes from pieces of any size. Whole pieces are not copied. */
export class ByteReader {
  readonly #body: AsyncIterator<Uint8Array>;
  #ahead: Uint8Array = new Uint8Array(0);
  #consumed = 0;
  #ended = false;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body[Symbol.asyncIterator]();
  }

  get position(): number {
    return this.#consumed;
  }

  /** Gives fewer bytes at the end of the source. Consumes none. */
  async peek(count: number): Promise<Uint8Array> {
    while (this.#ahead.length < count) {
      const piece = await this.#pull();
      if (piece === undefined) break;
      this.#ahead = this.#ahead.length === 0 ? piece : Buffer.concat([this.#ahead, piece]);
    }
    return this.#ahead.subarray(0, count);
  }

  /** @returns 1 to `limit` bytes; `undefined` at the end */
  async piece(limit: number): Promise<Uint8Array | undefined> {
    while (this.#ahead.length === 0) {
      const piece = await this.#pull();
      if (piece === undefined) return undefined;
      this.#ahead = piece;
    }
    const piece = this.#ahead.length > limit ? this.#ahead.subarray(0, limit) : this.#ahead;
    this.#ahead = this.#ahead.subarray(piece.length);
    this.#consumed += piece.length;
    return piece;
  }

  unread(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#ahead = this.#ahead.length === 0 ? bytes : Buffer.concat([bytes, this.#ahead]);
    this.#consumed -= bytes.length;
  }

  /** Gives fewer bytes at the end of the source. */
  async take(count: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(count);
    let filled = 0;
    while (filled < count) {
      const piece = await this.piece(count - filled);
      if (piece === undefined) break;
      bytes.set(piece, filled);
      filled += piece.length;
    }
    return bytes.subarray(0, filled);
  }

  async skip(count: number): Promise<void> {
    for (let remaining = count; remaining > 0; ) {
      const piece = await this.piece(remaining);
      if (piece === undefined) return;
      remaining -= piece.length;
    }
  }

  async close(): Promise<void> {
    this.#ahead = new Uint8Array(0);
    if (this.#ended) return;
    this.#ended = true;
    await this.#body.return?.();
  }

  async #pull(): Promise<Uint8Array | undefined> {
    if (this.#ended) return undefined;
    try {
      const next = await this.#body.next();
      if (!next.done) return next.value;
    } catch (error) {
      this.#ended = true;
      throw error;
    }
    this.#ended = true;
    return undefined;
  }
}
