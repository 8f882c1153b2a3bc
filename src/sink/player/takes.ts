import { unlessAborted } from '../../async.ts';
import type { Track } from '../../audio/pcm.ts';

/** The sound of a track in takes: each ends at a drop, and the next one goes on with the sound that comes then. */
export class Takes {
  readonly #track: Track;
  readonly #pieces: AsyncIterator<Uint8Array>;
  #coming: Promise<IteratorResult<Uint8Array>> | undefined;

  constructor(track: Track) {
    this.#track = track;
    this.#pieces = track.pcm[Symbol.asyncIterator]();
  }

  first(): Track {
    const { drops } = this.#track;
    return drops ? { ...this.#track, pcm: this.#until(drops.signal) } : this.#track;
  }

  /** Waits for sound. It is `undefined` at the end of the track. */
  async next(): Promise<Track | undefined> {
    this.#coming ??= this.#pieces.next();
    const { done } = await this.#coming;
    return done ? undefined : { ...this.first(), bytes: undefined };
  }

  /** A piece that comes after the drop is the first one of the next take. */
  async *#until(dropped: AbortSignal): AsyncGenerator<Uint8Array> {
    let isLeft = true;
    try {
      for (;;) {
        this.#coming ??= this.#pieces.next();
        const next = await unlessDropped(this.#coming, dropped);
        isLeft = next?.done !== true && !dropped.aborted;
        if (!next || next.done) return;
        this.#coming = undefined;
        yield next.value;
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
