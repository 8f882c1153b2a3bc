import { describeFormat, frameBytes, type PcmFormat, type Speech, sameFormat } from './pcm.ts';
import { ByteReader } from './samples.ts';

/** `incomplete`: the body ended early or has no sample. `format-changed`: two headers in one body differ. */
export type WavProblem = 'not-wav' | 'incomplete' | 'unsupported' | 'format-changed';

export class WavError extends Error {
  override readonly name = 'WavError';
  readonly problem: WavProblem;
  /** The first bytes of a `not-wav` body, 1024 at most. */
  readonly head: Uint8Array | undefined;

  constructor(problem: WavProblem, message: string, head?: Uint8Array) {
    super(message);
    this.problem = problem;
    this.head = head;
  }
}

export const QUOTED_BYTES = 1024;

const SMALLEST_WAV_BYTES = 44;

export interface WavOptions {
  readonly bodyBytes?: number | undefined;
  /** The default is {@link QUOTED_BYTES}. */
  readonly quotedBytes?: number | undefined;
  /** Called if a kilobyte or more after the samples is no chunk. */
  readonly onLeftover?: ((bytes: number) => void) | undefined;
}

/**
 * Reads up to the first sample. The sound has no chunks, further headers or incomplete last frame.
 * @throws WavError here and while `pcm` is iterated
 */
export async function readWav(body: AsyncIterable<Uint8Array>, options: WavOptions = {}): Promise<Speech> {
  const reader = new ByteReader(body);
  try {
    await expectWav(reader, options.quotedBytes ?? QUOTED_BYTES);
    const start = await readStart(reader);
    const bytes = totalBytes(start, reader.position, options.bodyBytes);
    return { format: start.format, bytes, pcm: readSamples(reader, start, options.onLeftover) };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

async function expectWav(reader: ByteReader, quotedBytes: number): Promise<void> {
  const head = Buffer.from(await reader.peek(RIFF_BYTES));
  if (beginsWav(head)) return;
  if (head.length === 0) throw new WavError('incomplete', 'empty answer instead of a WAV', head);
  const id = head.toString('latin1', 0, 4);
  if (head.length < RIFF_BYTES && WAV_NAMES.some((whole) => whole.startsWith(id))) throw endsEarly();
  if (id === 'RIFX') throw unsupported('big-endian WAV (RIFX)');
  // The GUID of Sony Wave64.
  if (head.toString('hex') === '726966662e91cf11a5d628db') throw unsupported('Wave64 instead of WAV');
  throw new WavError('not-wav', 'no WAV', Uint8Array.from(await reader.peek(quotedBytes)));
}

/** @returns the bytes of samples; `undefined` if the body may hold further WAVs, as some services send several */
function totalBytes(
  { format, size, end = 0 }: WavStart,
  position: number,
  bodyBytes: number | undefined,
): number | undefined {
  if (size === undefined || bodyBytes === undefined) return undefined;
  if (position + size > bodyBytes) return undefined;
  const wav = Math.max(position + size, end <= bodyBytes ? end : 0);
  return bodyBytes - wav < SMALLEST_WAV_BYTES ? size - (size % frameBytes(format)) : undefined;
}

const RIFF_BYTES = 12;
const RIFF_HEAD_BYTES = 8;

const MAX_HELD_BYTES = 16 * 1024 * 1024;

export interface WavStart {
  readonly format: PcmFormat;
  /** Bytes of samples; `undefined` for a placeholder. */
  readonly size: number | undefined;
  /** The end according to the RIFF size, which may be wrong. */
  readonly end?: number | undefined;
}

interface Chunk {
  readonly id: string;
  readonly size: number;
}

/** RF64 (EBU Tech 3306) and BW64 (ITU-R BS.2088) differ from RIFF by their `ds64` chunk only. */
const WAV_NAMES: readonly string[] = ['RIFF', 'RF64', 'BW64'];

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

/** Reads the start of a file whose samples come before their format. */
async function readLateFormat(reader: ByteReader, size: number | undefined): Promise<WavStart> {
  if (size === undefined || size > MAX_HELD_BYTES)
    throw unsupported('WAV with its samples before their format, and too many to wait for it');
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

async function skipChunk(reader: ByteReader): Promise<void> {
  await readContent(reader, await readChunkHead(reader), 0);
}

async function readChunkHead(reader: ByteReader): Promise<Chunk> {
  const head = await reader.take(8);
  if (head.length < 8) throw endsEarly();
  if (!isFourCC(head, 0))
    throw unsupported(`WAV with a broken header: no chunk begins at byte ${reader.position - 8}`);
  return { id: fourCC(head), size: head.readUInt32LE(4) };
}

async function readContent(reader: ByteReader, { size }: Chunk, wanted: number): Promise<Buffer> {
  const content = await reader.take(Math.min(size, wanted));
  if (content.length < Math.min(size, wanted)) throw endsEarly();
  await reader.skip(size - content.length);
  await skipPadding(reader, size);
  return content;
}

/** Many writers omit the padding: the next chunk's name then takes its place. */
async function skipPadding(reader: ByteReader, size: number): Promise<void> {
  if (size % 2 === 1 && !isFourCC(await reader.peek(4), 0)) await reader.skip(1);
}

function unsupported(message: string): WavError {
  return new WavError('unsupported', message);
}

function endsEarly(): WavError {
  return new WavError('incomplete', 'WAV that ends within its header');
}

/** Bytes of a WAVEFORMATEXTENSIBLE, the longest form of the `fmt ` chunk. */
const FORMAT_BYTES = 40;

const PCM = 0x0001;
const FLOAT = 0x0003;
const EXTENSIBLE = 0xfffe;

/** A KSDATAFORMAT_SUBTYPE_* is a format tag of two bytes, followed by these fourteen. */
const SUBFORMAT_TAIL = Buffer.from('000000001000800000aa00389b71', 'hex');

/** The format tags come from Microsoft's mmreg.h. */
const CODECS: Readonly<Record<number, string>> = {
  2: 'Microsoft ADPCM',
  6: 'A-law',
  7: 'mu-law',
  17: 'IMA ADPCM',
  49: 'GSM 6.10',
  80: 'MPEG audio',
  85: 'MP3',
  255: 'AAC',
};

const MAX_CHANNELS = 64;
const MAX_SAMPLE_RATE = 768_000;

/**
 * Ignores byte rate and block align, which some services get wrong.
 * @param chunk the chunk, cut at {@link FORMAT_BYTES}
 * @throws WavError `unsupported`
 */
function parseFormat(chunk: Buffer): PcmFormat {
  if (chunk.length < 16) throw unsupported(`WAV with a fmt chunk of ${chunk.length} bytes`);
  const tag = formatTag(chunk);
  const channels = chunk.readUInt16LE(2);
  const sampleRate = chunk.readUInt32LE(4);
  const bits = chunk.readUInt16LE(14);
  if (tag !== PCM && tag !== FLOAT)
    throw unsupported(`WAV with ${CODECS[tag] ?? `codec ${tag}`} in it instead of PCM`);
  if (channels < 1 || channels > MAX_CHANNELS) throw unsupported(`WAV with ${channels} channels`);
  if (sampleRate < 1 || sampleRate > MAX_SAMPLE_RATE)
    throw unsupported(`WAV with a sample rate of ${sampleRate} Hz`);
  if (tag === FLOAT ? bits !== 32 : bits < 1 || bits > 32)
    throw unsupported(`WAV with ${bits}-bit ${tag === FLOAT ? 'float' : 'integer'} samples`);
  return {
    encoding: tag === FLOAT ? 'float' : 'integer',
    sampleRate,
    channels,
    bitsPerSample: Math.ceil(bits / 8) * 8,
  };
}

function formatTag(chunk: Buffer): number {
  const tag = chunk.readUInt16LE(0);
  if (tag !== EXTENSIBLE) return tag;
  if (chunk.length < FORMAT_BYTES)
    throw unsupported(`WAV with an extensible fmt chunk of only ${chunk.length} bytes`);
  if (!chunk.subarray(26, FORMAT_BYTES).equals(SUBFORMAT_TAIL))
    throw unsupported(`WAV with the unknown subformat ${chunk.toString('hex', 24, FORMAT_BYTES)}`);
  return chunk.readUInt16LE(24);
}

/** Bytes. Some writers subtract a header from the largest size, or round it down. */
const SLACK = 0x1_0000;

/**
 * If a real size is mistaken for a placeholder, only one of two checks is lost: HTTP marks the end as well.
 * @returns `undefined` for a placeholder: 0, about 2^31 (sox), 2^32 (ffmpeg) or 2,000,000,000
 */
function realSize(size: number): number | undefined {
  const nearly = (limit: number) => size > limit - SLACK && size <= limit;
  if (size === 0 || nearly(2 ** 31) || nearly(2 ** 32) || nearly(2_000_000_000)) return undefined;
  return size;
}

/** Does the same as {@link realSize} for the size in a `ds64` chunk (EBU Tech 3306). */
function realSize64(size: bigint): number | undefined {
  return size > 0n && size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : undefined;
}

function isFourCC(bytes: Uint8Array, at: number): boolean {
  if (bytes.length < at + 4) return false;
  for (let i = at; i < at + 4; i++) {
    const byte = bytes[i] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return false;
  }
  return true;
}

function fourCC(bytes: Uint8Array, at = 0): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

const SUSPICIOUS_BYTES = 1024;

/**
 * Yields the samples as whole frames. A further header may follow a chunk or interrupt it.
 * @param onLeftover called if {@link SUSPICIOUS_BYTES} or more after the samples are no chunk
 * @throws WavError
 */
async function* readSamples(
  reader: ByteReader,
  first: WavStart,
  onLeftover: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const frame = frameBytes(first.format);
  let size = first.size;
  let sizesHold = true;
  let empty = true;
  try {
    for (;;) {
      const data = new DataChunk(reader, size, frame);
      // `yield*` would cost more than the rest of the loop.
      for (let pieces = await data.read(); pieces; pieces = await data.read())
        for (const piece of pieces) yield piece;
      empty &&= data.bytes < frame;
      // A header among the samples proves all sizes wrong.
      if (size !== undefined && data.end === 'mark') sizesHold = false;
      const next = await furtherStart(reader, data, first.format, onLeftover);
      if (!next) break;
      size = sizesHold ? next.size : undefined;
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
    // No mark begins here: the first byte is a sample.
    return this.#align(await this.#reader.take(1));
  }

  /** Cuts pieces at whole frames, and copies the frame that two pieces share. */
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

async function furtherStart(
  reader: ByteReader,
  { end, bytes }: DataChunk,
  before: PcmFormat,
  onLeftover: (bytes: number) => void,
): Promise<WavStart | undefined> {
  if (end === 'end of body' || !(await skipToWav(reader, bytes, onLeftover))) return undefined;
  const next = await readStart(reader);
  if (sameFormat(next.format, before)) return next;
  throw new WavError(
    'format-changed',
    `WAV that changes its format midway, from ${describeFormat(before)} to ${describeFormat(next.format)}`,
  );
}

function brokeOff(bytes: number, size: number): WavError {
  return new WavError('incomplete', `WAV that broke off: ${bytes} of ${size} bytes of samples came`);
}

/** The start of a chunk within samples: a name, four bytes of size, and a kind. No sound looks like that by chance. */
interface Mark {
  readonly name: Buffer;
  readonly kinds: readonly Buffer[];
  readonly bytes: number;
}

const WAV = mark('RIFF', ['WAVE'], 16);

/** Searched only if the size is unknown: a known size tells where other chunks begin. */
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
