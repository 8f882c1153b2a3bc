import { leastBytes } from './documents.ts';
import type { Reader } from './reading.ts';

/** Chooses the reader by the first bytes, for a source whose name does not tell its format. */
export function byContent(readers: readonly Reader[], otherwise: Reader): Reader {
  const readerFor = (head: Uint8Array) => readers.find(({ begins }) => begins?.(head)) ?? otherwise;
  return {
    ...otherwise,
    async open(source, signal) {
      if (source.words !== undefined) return otherwise.open(source, signal);
      if (source.again) {
        const { head } = await beginningOf(source.again(signal));
        return readerFor(head).open(source, signal);
      }
      return {
        source,
        async *pieces(until, options) {
          const { head, all } = await beginningOf(source.bytes(until));
          const reading = await readerFor(head).open({ ...source, bytes: () => all }, until);
          yield* reading.pieces(until, options);
        },
      };
    },
  };
}

interface Beginning {
  readonly head: Uint8Array;
  /** All bytes of the source, the head included. */
  readonly all: AsyncIterable<Uint8Array>;
}

async function beginningOf(bytes: AsyncIterable<Uint8Array>): Promise<Beginning> {
  const iterator = bytes[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  let isOver = false;
  while (!isOver && head.length < leastBytes(head)) {
    const { done, value } = await iterator.next();
    if (done) isOver = true;
    else head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  return { head, all: goingOn(head, iterator) };
}

async function* goingOn(head: Uint8Array, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}
