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
        const bytes = source.again(signal)[Symbol.asyncIterator]();
        const head = await headOf(bytes);
        // Otherwise the file stays open.
        await bytes.return?.();
        return readerFor(head).open(source, signal);
      }
      return {
        source,
        async *pieces(until, options) {
          const bytes = source.bytes(until)[Symbol.asyncIterator]();
          const head = await headOf(bytes);
          const all = goingOn(head, bytes);
          const reading = await readerFor(head).open({ ...source, bytes: () => all }, until);
          yield* reading.pieces(until, options);
        },
      };
    },
  };
}

async function headOf(bytes: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array();
  while (head.length < leastBytes(head)) {
    const { done, value } = await bytes.next();
    if (done) break;
    head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  return head;
}

async function* goingOn(head: Uint8Array, bytes: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head;
    for (let next = await bytes.next(); !next.done; next = await bytes.next()) yield next.value;
  } finally {
    await bytes.return?.();
  }
}
