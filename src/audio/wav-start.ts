import type { ByteReader } from './byte-reader.ts';
import { describeFormat, type PcmFormat, sameFormat } from './pcm.ts';
import { FORMAT_BYTES, fourCC, isFourCC, parseFormat, realSize, realSize64, WavError } from './wav-format.ts';

export const RIFF_BYTES = 12;
const RIFF_HEAD_BYTES = 8;

const MAX_HELD_BYTES = 16 * 1024 * 1024;

export interface WavStart {
  readonly format: PcmFormat;
  /** Bytes of samples. It is `undefined` for a placeholder. */
  readonly size: number | undefined;
  /** The end by the RIFF size, which may be wrong. */
  readonly end?: number | undefined;
}

interface Chunk {
  readonly id: string;
  readonly size: number;
}

/** RF64 (EBU Tech 3306) and BW64 (ITU-R BS.2088) differ by their `ds64` chunk only. */
export const WAV_NAMES: readonly string[] = ['RIFF', 'RF64', 'BW64'];

export function beginsWav(bytes: Uint8Array): boolean {
  return WAV_NAMES.includes(fourCC(bytes)) && fourCC(bytes, 8) === 'WAVE';
}

/**
 * Reads to the first sample. {@link beginsWav} must hold.
 * @throws WavError
 */
export async function readStart(reader: ByteReader): Promise<WavStart> {
  const begin = reader.position;
  const riffSize = realSize((await reader.take(RIFF_BYTES)).readUInt32LE(4));
  const end = riffSize && begin + RIFF_HEAD_BYTES + riffSize;
  let format: PcmFormat | undefined;
  let size64: number | undefined;
  for (;;) {
    const chunk = await readChunkHead(reader);
    if (chunk.id === 'data') {
      const size = realSize(chunk.size) ?? size64;
      return { ...(format === undefined ? await readLateFormat(reader, size) : { format, size }), end };
    }
    if (chunk.id === 'fmt ') format = await readFormat(reader, chunk, format);
    else if (chunk.id === 'ds64') size64 = await readSize64(reader, chunk);
    else await readContent(reader, chunk, 0);
  }
}

async function readFormat(
  reader: ByteReader,
  chunk: Chunk,
  before: PcmFormat | undefined,
): Promise<PcmFormat> {
  const format = parseFormat(await readContent(reader, chunk, FORMAT_BYTES));
  if (!before || sameFormat(before, format)) return format;
  throw new WavError(
    'format-changed',
    `WAV with two fmt chunks that differ: ${describeFormat(before)} and ${describeFormat(format)}`,
  );
}

/** Reads a file whose samples come before their format. */
async function readLateFormat(reader: ByteReader, size: number | undefined): Promise<WavStart> {
  if (size === undefined || size > MAX_HELD_BYTES) {
    throw new WavError(
      'unsupported',
      'WAV with its samples before their format, and too many to wait for it',
    );
  }
  const data = await reader.take(size);
  await skipPadding(reader, size);
  for (;;) {
    const chunk = await readChunkHead(reader);
    const content = await readContent(reader, chunk, chunk.id === 'fmt ' ? FORMAT_BYTES : 0);
    if (chunk.id !== 'fmt ') continue;
    reader.unread(data);
    return { format: parseFormat(content), size };
  }
}

async function readSize64(reader: ByteReader, chunk: Chunk): Promise<number | undefined> {
  const content = await readContent(reader, chunk, 16);
  return content.length < 16 ? undefined : realSize64(content.readBigUInt64LE(8));
}

export async function skipChunk(reader: ByteReader): Promise<void> {
  await readContent(reader, await readChunkHead(reader), 0);
}

async function readChunkHead(reader: ByteReader): Promise<Chunk> {
  const head = await reader.take(8);
  if (head.length < 8) throw endsEarly();
  if (!isFourCC(head, 0)) {
    throw new WavError(
      'unsupported',
      `WAV with a broken header: no chunk begins at byte ${reader.position - 8}`,
    );
  }
  return { id: fourCC(head), size: head.readUInt32LE(4) };
}

async function readContent(reader: ByteReader, { size }: Chunk, wanted: number): Promise<Buffer> {
  const content = await reader.take(Math.min(size, wanted));
  if (content.length < Math.min(size, wanted)) throw endsEarly();
  await reader.skip(size - content.length);
  await skipPadding(reader, size);
  return content;
}

/** Many writers leave the padding out: the name of the next chunk stands in its place. */
export async function skipPadding(reader: ByteReader, size: number): Promise<void> {
  if (size % 2 === 1 && !isFourCC(await reader.peek(4), 0)) await reader.skip(1);
}

export function endsEarly(): WavError {
  return new WavError('incomplete', 'WAV that ends within its header');
}
