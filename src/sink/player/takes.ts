import { unlessAborted } from '../../async.ts';
import type { Track } from '../../audio/pcm.ts';

export interface Take {
  readonly track: Track;
  /** It aborts at the drop that ends the take. */
  readonly dropped: AbortSignal | undefined;
}

/** The sound of a track in takes: each ends at a drop, and the next one goes on with the sound that comes then. */
export class Takes {
  readonly #track: Track;
  readonly #pieces: AsyncIterator<Uint8Array>;
  #coming: Promise<IteratorResult<Uint8Array>> | undefined;
  /** True if what is coming is there. */
  #hasCome = false;

  /** @param onDrop is called when nothing more is heard of the sound that has come */
  constructor(track: Track, onDrop: () => void) {
    this.#track = track;
    this.#pieces = track.pcm[Symbol.asyncIterator]();
    track.drops?.listen(() => {
      if (this.#hasCome) this.#coming = undefined;
      onDrop();
    });
  }

  first(): Take {
    const dropped = this.#track.drops?.signal;
    return { dropped, track: dropped ? { ...this.#track, pcm: this.#until(dropped) } : this.#track };
  }

  /** It waits for sound. It is `undefined` at the end of the track. */
  async next(): Promise<Take | undefined> {
    const { done } = await this.#next();
    if (done) return undefined;
    const { track, dropped } = this.first();
    return { track: { ...track, bytes: undefined }, dropped };
  }

  /** What comes until it is taken. */
  #next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#coming) return this.#coming;
    const coming = this.#pieces.next();
    this.#coming = coming;
    this.#hasCome = false;
    const come = () => {
      this.#hasCome ||= this.#coming === coming;
    };
    coming.then(come, come);
    return coming;
  }

  /** A piece that comes after the drop is the first one of the next take. */
  async *#until(dropped: AbortSignal): AsyncGenerator<Uint8Array> {
    let isLeft = true;
    try {
      for (;;) {
        const next = await unlessDropped(this.#next(), dropped);
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
