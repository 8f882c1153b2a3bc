/** Bytes. Sound of half a minute to three minutes. */
const MOST_COLLECTED = 4 * 2 ** 20;

export interface Collected {
  /** The number of bytes; `undefined` for sound that goes on. */
  readonly bytes: number | undefined;
  readonly pcm: AsyncIterable<Uint8Array>;
}

/**
 * Waits for the whole sound, so that its size is known and an error comes before the first byte. Longer sound is passed on
 * as soon as it is too long to wait for.
 */
export async function collected(sound: AsyncIterable<Uint8Array>): Promise<Collected> {
  const source = sound[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < MOST_COLLECTED) {
    const next = await source.next();
    if (next.done) return { bytes, pcm: each(held) };
    held.push(next.value);
    bytes += next.value.length;
  }
  return { bytes: undefined, pcm: each(held, source) };
}

/** Waits for the first piece, since an engine may refuse a text only when it is to speak. */
export async function begun(sound: AsyncIterable<Uint8Array>): Promise<Collected> {
  const source = sound[Symbol.asyncIterator]();
  const first = await source.next();
  return { bytes: undefined, pcm: first.done ? each([]) : each([first.value], source) };
}

async function* each(held: Uint8Array[], rest?: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let piece = held.shift(); piece; piece = held.shift()) yield piece;
    for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) yield next.value;
  } finally {
    await rest?.return?.();
  }
}
