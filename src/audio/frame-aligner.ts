/** Cuts pieces at frame borders. Hands on parts of the pieces it got; copies less than one frame at each seam. */
export class FrameAligner {
  readonly #frameBytes: number;
  #begun: Uint8Array = new Uint8Array(0);

  constructor(frameBytes: number) {
    this.#frameBytes = frameBytes;
  }

  *align(piece: Uint8Array): Generator<Uint8Array> {
    let rest = piece;
    if (this.#begun.length > 0) {
      const missing = this.#frameBytes - this.#begun.length;
      this.#begun = Buffer.concat([this.#begun, rest.subarray(0, missing)]);
      if (this.#begun.length < this.#frameBytes) return;
      yield this.#begun;
      rest = rest.subarray(missing);
    }
    const whole = rest.length - (rest.length % this.#frameBytes);
    // Not `slice`: that of a Buffer would keep all of the piece in memory.
    this.#begun = Uint8Array.from(rest.subarray(whole));
    if (whole > 0) yield rest.subarray(0, whole);
  }
}
