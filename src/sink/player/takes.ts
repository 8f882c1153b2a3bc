import { unlessAborted } from '../../async.ts';
import type { Track } from '../../audio/pcm.ts';

export interface Take {
  readonly track: Track;
  /** It aborts at the drop that ends the take. */
  readonly dropped: AbortSignal | undefined;
}

/** The sound of a track in takes: each ends at a drop, and the next one begins behind the `Flush` of that drop. */
export class Takes {
  readonly #track: Track;
  readonly #pieces: AsyncIterator<Uint8Array>;
  /** A piece that was asked for, and that no take has got yet. */
  #coming: Promise<IteratorResult<Uint8Array>> | undefined;

  constructor(track: Track) {
    this.#track = track;
    this.#pieces = track.pcm[Symbol.asyncIterator]();
  }

  first(): Take {
    const dropped = this.#track.drops?.signal;
    return { dropped, track: dropped ? { ...this.#track, pcm: this.#until(dropped) } : this.#track };
  }

  /** It waits for sound. It is `undefined` at the end of the track. */
  async next(): Promise<Take | undefined> {
    const { drops } = this.#track;
    let passed: Uint8Array | undefined;
    for (;;) {
      const { done, value } = await this.#next();
      if (done) return undefined;
      // Another drop may have come since.
      if (passed === drops?.flush && value.length > 0) break;
      if (value === drops?.flush) passed = value;
      this.#coming = undefined;
    }
    const { track, dropped } = this.first();
    return { track: { ...track, bytes: undefined }, dropped };
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    this.#coming ??= this.#pieces.next();
    return this.#coming;
  }

  async *#until(dropped: AbortSignal): AsyncGenerator<Uint8Array> {
    let isLeft = true;
    try {
      for (;;) {
        const next = await unlessDropped(this.#next(), dropped);
        isLeft = next?.done !== true && !dropped.aborted;
        if (!next || next.done || dropped.aborted) return;
        this.#coming = undefined;
        if (next.value.length > 0) yield next.value;
      }
    } finally {
      if (isLeft && !dropped.aborted) await this.#pieces.return?.();
    }
  }
}

async function unlessDropped<T>(coming: Promise<T>, dropped: AbortSignal): Promise<T | undefined> {
  return unlessAborted(coming, dropped).catch((error) => {
    if (dropped.aborted) return undefined;
    throw error;
  });
}
