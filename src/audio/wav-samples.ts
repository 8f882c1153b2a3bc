import type { ByteReader } from './byte-reader.ts';
import { describeFormat, frameBytes, sameFormat } from './pcm.ts';
import { isFourCC, WavError } from './wav-format.ts';
import { beginsWav, RIFF_BYTES, readStart, skipChunk, skipPadding, type WavStart } from './wav-start.ts';

const SUSPICIOUS_BYTES = 1024;

/**
 * Gives the samples as whole frames. A further header may come after a chunk or inside it.
 * @param onLeftover is called if {@link SUSPICIOUS_BYTES} or more after the samples are not a chunk
 * @throws WavError
 */
export async function* readSamples(
  reader: ByteReader,
  first: WavStart,
  onLeftover: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const frame = frameBytes(first.format);
  let size = first.size;
  let sizesHold = true;
  let empty = true;
  try {
    for (let isOver = false; !isOver; ) {
      const data = new DataChunk(reader, size, frame);
      // `yield*` costs more than the rest of the loop.
      for (let pieces = await data.read(); pieces; pieces = await data.read())
        for (const piece of pieces) yield piece;
      empty &&= data.bytes < frame;
      // A header inside the samples proves all sizes wrong.
      if (size !== undefined && data.end === 'mark') sizesHold = false;
      const next = await readFurtherStart(reader, { first, data, onLeftover });
      isOver = !next;
      size = sizesHold ? next?.size : undefined;
    }
    if (empty) throw new WavError('incomplete', 'WAV without a single sample');
  } finally {
    await reader.close();
  }
}

class DataChunk {
  bytes = 0;
  end: 'size' | 'mark' | 'end of body' | undefined;
  readonly #reader: ByteReader;
  readonly #limit: number;
  readonly #marks: readonly Mark[];
  readonly #frameBytes: number;
  #begun: Uint8Array = new Uint8Array(0);

  constructor(reader: ByteReader, size: number | undefined, frameBytes: number) {
    this.#reader = reader;
    this.#limit = size ?? Number.POSITIVE_INFINITY;
    this.#marks = size === undefined ? [WAV, LIST] : [WAV];
    this.#frameBytes = frameBytes;
  }

  /** @returns at most two pieces; `undefined` at the end */
  async read(): Promise<readonly Uint8Array[] | undefined> {
    if (this.end) return undefined;
    const remaining = this.#limit - this.bytes;
    const piece = remaining > 0 ? await this.#reader.piece(remaining) : undefined;
    if (!piece) {
      this.end = remaining > 0 ? 'end of body' : 'size';
      if (remaining > 0 && remaining < Number.POSITIVE_INFINITY) throw brokeOff(this.bytes, this.#limit);
      return undefined;
    }
    const clear = bytesBeforeMark(piece, this.#marks);
    if (clear > 0) {
      this.#reader.unread(piece.subarray(clear));
      return this.#align(piece.subarray(0, clear));
    }
    this.#reader.unread(piece);
    if (await isMarkNext(this.#reader, this.#marks, remaining)) {
      this.end = 'mark';
      return undefined;
    }
    // The first byte turned out to be sound.
    return this.#align(await this.#reader.take(1));
  }

  /** Copies one frame at each seam. */
  #align(piece: Uint8Array): readonly Uint8Array[] {
    this.bytes += piece.length;
    const aligned: Uint8Array[] = [];
    let rest = piece;
    if (this.#begun.length > 0) {
      const missing = this.#frameBytes - this.#begun.length;
      this.#begun = Buffer.concat([this.#begun, rest.subarray(0, missing)]);
      if (this.#begun.length < this.#frameBytes) return aligned;
      aligned.push(this.#begun);
      rest = rest.subarray(missing);
    }
    const whole = rest.length - (rest.length % this.#frameBytes);
    // A view would keep the whole piece in memory.
    this.#begun = Uint8Array.from(rest.subarray(whole));
    if (whole > 0) aligned.push(rest.subarray(0, whole));
    return aligned;
  }
}

async function skipToWav(
  reader: ByteReader,
  size: number,
  onLeftover: (bytes: number) => void,
): Promise<boolean> {
  await skipPadding(reader, size);
  for (;;) {
    const head = await reader.peek(RIFF_BYTES);
    if (beginsWav(head)) return true;
    if (head.length < RIFF_BYTES || !isFourCC(head, 0)) {
      const start = reader.position;
      await reader.skip(Number.POSITIVE_INFINITY);
      const bytes = reader.position - start;
      if (bytes >= SUSPICIOUS_BYTES) onLeftover(bytes);
      return false;
    }
    await skipChunk(reader);
  }
}

interface Leftover {
  readonly first: WavStart;
  readonly data: DataChunk;
  readonly onLeftover: (bytes: number) => void;
}

async function readFurtherStart(
  reader: ByteReader,
  { first, data, onLeftover }: Leftover,
): Promise<WavStart | undefined> {
  if (data.end === 'end of body' || !(await skipToWav(reader, data.bytes, onLeftover))) return undefined;
  const next = await readStart(reader);
  if (sameFormat(next.format, first.format)) return next;
  throw new WavError(
    'format-changed',
    `WAV that changes its format midway, from ${describeFormat(first.format)} to ${describeFormat(next.format)}`,
  );
}

function brokeOff(bytes: number, size: number): WavError {
  return new WavError('incomplete', `WAV that broke off: ${bytes} of ${size} bytes of samples came`);
}

/** A mark is a name, four bytes of size, and a kind. No sound looks like that by chance. */
interface Mark {
  readonly name: Buffer;
  readonly kinds: readonly Buffer[];
  readonly bytes: number;
}

const WAV = mark('RIFF', ['WAVE'], 16);

/** Only a known size tells other chunks from samples. */
const LIST = mark('LIST', ['INFO', 'adtl'], 12);

function mark(name: string, kinds: readonly string[], bytes: number): Mark {
  return {
    name: Buffer.from(name, 'latin1'),
    kinds: kinds.map((kind) => Buffer.from(kind, 'latin1')),
    bytes,
  };
}

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

function agrees(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  // `every` costs as much as the search.
  for (let i = 0; i < name.length && at + i < bytes.length; i++) if (bytes[at + i] !== name[i]) return false;
  return true;
}
