import type { Speech } from '../../../src/sound/pcm.ts';
import { readWav, type WavOptions } from '../../../src/sound/wav.ts';

/** A body in pieces of one size. */
export async function* inPieces(bytes: Uint8Array, size = bytes.length || 1): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A body whose end is seen: whether somebody let go of it, and how often. */
export class WatchedBody implements AsyncIterableIterator<Uint8Array> {
  returned = 0;
  pulled = 0;
  readonly #pieces: Iterator<Uint8Array>;

  constructor(pieces: Iterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.iterator]();
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    this.pulled += 1;
    return this.#pieces.next();
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.returned += 1;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

export async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(Uint8Array.from(piece));
  return Buffer.concat(all);
}

export interface Heard extends Omit<Speech, 'pcm'> {
  readonly pcm: Buffer;
}

/** Reads a WAV to its end. */
export async function hear(body: AsyncIterable<Uint8Array>, options?: WavOptions): Promise<Heard> {
  const speech = await readWav(body, options);
  return { ...speech, pcm: await collect(speech.pcm) };
}
