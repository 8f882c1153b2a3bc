import type { ByteReader } from './byte-reader.ts';
import { describeFormat, frameBytes, sameFormat } from './pcm.ts';
import { isFourCC, WavError } from './wav-format.ts';
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

/** Cuts pieces at frame borders. Hands on parts of the pieces it got; copies less than one frame at each seam. */
class FrameAligner {
  readonly #frameBytes: number;
  #begun: Uint8Array = new Uint8Array(0);

  constructor(frameBytes: number) {
    this.#frameBytes = frameBytes;
  }

  *align(piece: Uint8Array): Generator<Uint8Array> {
    let rest = piece;
    if (this.#begun.length > 0) {
      const missing = this.#frameBytes - this.#begun.length;
      this.#begun = Buffer.concat([this.#begun, rest.subarray(0, missing)]);
      if (this.#begun.length < this.#frameBytes) return;
      yield this.#begun;
      rest = rest.subarray(missing);
    }
    const whole = rest.length - (rest.length % this.#frameBytes);
    // Not `slice`: that of a Buffer would keep all of the piece in memory.
    this.#begun = Uint8Array.from(rest.subarray(whole));
    if (whole > 0) yield rest.subarray(0, whole);
  }
}

/** How a chunk begins that no sound looks like by chance: with its name, four bytes of size, and its kind. */
interface Mark {
  readonly name: Buffer;
  readonly kinds: readonly Buffer[];
  /** How many bytes it takes to be sure. */
  readonly bytes: number;
}

/** A WAV of its own, up to the name of its first chunk. */
const WAV = mark('RIFF', ['WAVE'], 16);

/** What some writers put behind the samples. Other chunks have no kind: only a known size tells them from samples. */
const LIST = mark('LIST', ['INFO', 'adtl'], 12);

function mark(name: string, kinds: readonly string[], bytes: number): Mark {
  return {
    name: Buffer.from(name, 'latin1'),
    kinds: kinds.map((kind) => Buffer.from(kind, 'latin1')),
    bytes,
  };
}

/** How many bytes of samples come before the next thing that is none, or may be none when more has come. */
function bytesBeforeMark(piece: Uint8Array, marks: readonly Mark[]): number {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  return Math.min(...marks.map((mark) => bytesBefore(bytes, mark)));
}

function bytesBefore(bytes: Buffer, mark: Mark): number {
  for (let at = bytes.indexOf(mark.name); at !== -1; at = bytes.indexOf(mark.name, at + 1)) {
    if (mayBegin(bytes, at, mark)) return at;
  }
  for (let at = Math.max(0, bytes.length - mark.name.length + 1); at < bytes.length; at++) {
    if (mayBegin(bytes, at, mark)) return at;
  }
  return bytes.length;
}

/** Whether what comes next, within the limit, is no sample for sure. Waits for no more bytes than it takes to tell. */
async function isMarkNext(reader: ByteReader, marks: readonly Mark[], limit: number): Promise<boolean> {
  for (let count = 1; count <= limit; count++) {
    const bytes = await reader.peek(count);
    const mark = marks.find((mark) => mayBegin(bytes, 0, mark));
    if (mark === undefined || bytes.length < count) return false;
    if (count === mark.bytes) return true;
  }
  return false;
}

function mayBegin(bytes: Uint8Array, at: number, mark: Mark): boolean {
  if (!agrees(bytes, at, mark.name) || !mark.kinds.some((kind) => agrees(bytes, at + 8, kind))) return false;
  return mark !== WAV || bytes.length < at + WAV.bytes || isFourCC(bytes, at + 12);
}

/** Whether the name stands there, as far as there are bytes. */
function agrees(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  // Not `every`, which costs as much as the search where pieces are small.
  for (let i = 0; i < name.length && at + i < bytes.length; i++) if (bytes[at + i] !== name[i]) return false;
  return true;
}
