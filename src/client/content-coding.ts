import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { ExitCode, TtsError } from '../error.ts';
import { printable } from '../printable.ts';

/** The first byte tells the two forms of `deflate` apart: many services leave out the zlib wrapper. */
const decoders = new Map<string, (firstByte: number) => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
]);

/**
 * Undoes the codings of a body (RFC 9110, section 8.4). Errors of the data are zlib's.
 * @throws TtsError (service) for an unknown coding
 */
export async function* decompress(
  packed: AsyncIterable<Uint8Array>,
  coding: string,
): AsyncGenerator<Uint8Array> {
  const create = decoders.get(coding);
  if (!create)
    throw new TtsError(`the answer has an unknown content encoding: ${printable(coding)}`, {
      exitCode: ExitCode.service,
      hint: 'gzip, deflate and br are read: the service, or a proxy in between, has to use one of them or none',
    });
  const pieces = packed[Symbol.asyncIterator]();
  const first = await pieces.next();
  const decoder = create(first.done ? 0 : (first.value[0] ?? 0));
  async function* all() {
    for (let next = first; !next.done; next = await pieces.next()) yield next.value;
  }
  // The reader of the decoder gets the errors.
  pipeline(Readable.from(all()), decoder).catch(() => {});
  try {
    yield* decoder;
  } finally {
    decoder.destroy();
  }
}
