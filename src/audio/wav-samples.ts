import type { ByteReader } from './byte-reader.ts';
import { isFourCC } from './fourcc.ts';
import { FrameAligner } from './frame-aligner.ts';
import { describeFormat, frameBytes, sameFormat } from './pcm.ts';
import { WavError } from './wav-error.ts';
import { bytesBeforeMark, isMarkNext, LIST, WAV } from './wav-scan.ts';
import { beginsWav, RIFF_BYTES, readStart, skipChunk, skipPadding, type WavStart } from './wav-start.ts';

/** Where the samples of one header ended, and after how many bytes. */
interface DataEnd {
  readonly by: 'size' | 'mark' | 'end of body';
  readonly bytes: number;
}

/**
 * All samples of a body, from the first one on, as whole frames: those behind further headers too, be they where the
 * chunk before ends or in its midst.
 *
 * @throws WavError `incomplete`, `unsupported` or `format-changed`
 */
export async function* readSamples(reader: ByteReader, first: WavStart): AsyncGenerator<Uint8Array> {
  const frame = frameBytes(first.format);
  let size = first.size;
  let sizesHold = true;
  let empty = true;
  for (;;) {
    const end = yield* readData(reader, size, frame);
    empty &&= end.bytes < frame;
    if (size !== undefined && end.by === 'end of body') throw brokeOff(end.bytes, size);
    // A size that a header interrupts was none, and those of the headers to come are no better.
    if (size !== undefined && end.by === 'mark') sizesHold = false;
    if (end.by === 'end of body' || !(await skipToWav(reader, end.bytes))) break;
    const next = await readFurtherStart(reader, first);
    size = sizesHold ? next.size : undefined;
  }
  if (empty) throw new WavError('incomplete', 'WAV without a single sample');
}

async function* readData(
  reader: ByteReader,
  size: number | undefined,
  frame: number,
): AsyncGenerator<Uint8Array, DataEnd> {
  const aligner = new FrameAligner(frame);
  const limit = size ?? Number.POSITIVE_INFINITY;
  const marks = size === undefined ? [WAV, LIST] : [WAV];
  let bytes = 0;
  while (bytes < limit) {
    const piece = await reader.piece(limit - bytes);
    if (piece === undefined) return { by: 'end of body', bytes };
    const clear = bytesBeforeMark(piece, marks);
    // Not `yield*`, which costs more than the rest of the loop.
    for (const aligned of aligner.align(piece.subarray(0, clear))) yield aligned;
    bytes += clear;
    if (clear === piece.length) continue;
    reader.unread(piece.subarray(clear));
    if (await isMarkNext(reader, marks, limit - bytes)) return { by: 'mark', bytes };
    // It only began like one: its first byte is sound, and the search goes on behind it.
    yield* aligner.align(await reader.take(1));
    bytes += 1;
  }
  return { by: 'size', bytes };
}

/** Drops what stands behind the samples; `false` where the body ends without a further WAV. */
async function skipToWav(reader: ByteReader, size: number): Promise<boolean> {
  await skipPadding(reader, size);
  for (;;) {
    const head = await reader.peek(RIFF_BYTES);
    if (beginsWav(head)) return true;
    if (head.length < RIFF_BYTES || !isFourCC(head, 0)) {
      await reader.skip(Number.POSITIVE_INFINITY);
      return false;
    }
    await skipChunk(reader);
  }
}

async function readFurtherStart(reader: ByteReader, { format }: WavStart): Promise<WavStart> {
  const next = await readStart(reader);
  if (sameFormat(next.format, format)) return next;
  throw new WavError(
    'format-changed',
    `WAV that changes its format midway, from ${describeFormat(format)} to ${describeFormat(next.format)}`,
  );
}

function brokeOff(bytes: number, size: number): WavError {
  return new WavError('incomplete', `WAV that broke off: ${bytes} of ${size} bytes of samples came`);
}
