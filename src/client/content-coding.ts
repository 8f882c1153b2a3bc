import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { releasing } from '../async.ts';
import { ExitCode, TtsError } from '../error.ts';
import { printable } from '../printable.ts';

/** The body as it arrives, with the first byte known. */
interface Begun {
  readonly firstByte: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** By name of the coding. Many send `deflate` without the zlib wrapper that the standard asks for. */
const decoders = new Map<string, (firstByte: number) => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
]);

/**
 * The body without one of its content codings (RFC 9110, section 8.4). What is torn or damaged fails as zlib says.
 * @throws TtsError (service) for a coding that is not known
 */
export function decompress(packed: AsyncIterable<Uint8Array>, coding: string): AsyncIterable<Uint8Array> {
  return releasing(decoded(packed, coding), async () => {
    await packed[Symbol.asyncIterator]().return?.();
  });
}

async function* decoded(packed: AsyncIterable<Uint8Array>, coding: string): AsyncGenerator<Uint8Array> {
  const create = decoders.get(coding);
  if (!create)
    throw new TtsError(`the answer has an unknown content encoding: ${printable(coding)}`, {
      exitCode: ExitCode.service,
      hint: 'gzip, deflate and br are read: the service, or a proxy in between, has to use one of them or none',
    });
  const { firstByte, body } = await begin(packed);
  const decoder = create(firstByte);
  // What goes wrong on the way is told by the decoder, once its reader comes back: here nobody may be listening by then.
  const fed = pipeline(Readable.from(body), decoder).catch(() => {});
  try {
    yield* decoder;
  } finally {
    decoder.destroy();
    await fed;
  }
}

async function begin(packed: AsyncIterable<Uint8Array>): Promise<Begun> {
  const iterator = packed[Symbol.asyncIterator]();
  const first = await iterator.next();
  async function* body() {
    try {
      for (let next = first; !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { firstByte: first.done ? 0 : (first.value[0] ?? 0), body: body() };
}
