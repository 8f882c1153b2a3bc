import { setTimeout as sleep } from 'node:timers/promises';

/** So long does a header wait for the first sound, in milliseconds. */
const AT_ONCE_MS = 2;

/**
 * A WAV in pieces. Sound that is there at once comes in one piece with the header: sox, left to find out what it gets,
 * looks at no more than what it reads first, and takes a header alone for nothing.
 */
export async function* behindHeader(
  header: Uint8Array,
  pcm: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const pieces = pcm[Symbol.asyncIterator]();
  try {
    const coming = pieces.next();
    // Told below, unless the reader leaves before.
    coming.catch(() => {});
    const isAtOnce = await Promise.race([coming.then(() => true), sleep(AT_ONCE_MS, false, { ref: false })]);
    if (!isAtOnce) yield header;
    const first = await coming;
    if (first.done && isAtOnce) yield header;
    if (first.done) return;
    yield isAtOnce ? Buffer.concat([header, first.value]) : first.value;
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value;
  } finally {
    await pieces.return?.();
  }
}
