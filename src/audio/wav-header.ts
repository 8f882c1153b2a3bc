import { frameBytes, type PcmFormat } from './pcm.ts';

/** The samples of a WAV: PCM, or one byte of G.711 for each. */
export interface WavFormat extends Omit<PcmFormat, 'encoding'> {
  readonly encoding: PcmFormat['encoding'] | 'alaw' | 'ulaw';
}

/** The codes of the chunk "fmt ". */
const CODES: Readonly<Record<WavFormat['encoding'], number>> = { integer: 1, float: 3, alaw: 6, ulaw: 7 };

/** The size of a stream, as ffmpeg writes it, and of an RF64. */
const UNKNOWN = 0xffff_ffff;

const RIFF_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const INTEGER_FMT_BYTES = 16;
/** All but integers have a longer chunk, and a chunk "fact". */
const OTHER_FMT_BYTES = 18;
const FACT_BYTES = 4;
const DS64_BYTES = 28;

export const RF64_EXTRA_BYTES = CHUNK_HEAD_BYTES + DS64_BYTES;

/** A stream gets no padding byte: without a size in the header, the byte would be taken for sound. */
export function padding(dataBytes: number | undefined): 0 | 1 {
  return dataBytes === undefined || dataBytes % 2 === 0 ? 0 : 1;
}

/** A header has 44 bytes for integers, 58 otherwise, and {@link RF64_EXTRA_BYTES} more if a size needs more than 32 bits. */
export function headerBytes(format: WavFormat, dataBytes: number | undefined): number {
  return plainHeaderBytes(format) + (needsRf64(format, dataBytes) ? RF64_EXTRA_BYTES : 0);
}

export function overheadBytes(format: WavFormat, dataBytes: number | undefined): number {
  return headerBytes(format, dataBytes) + padding(dataBytes);
}

/** @param dataBytes `undefined` for a stream */
export function wavHeader(format: WavFormat, dataBytes: number | undefined): Uint8Array {
  const rf64 = needsRf64(format, dataBytes);
  const header = Buffer.alloc(headerBytes(format, dataBytes));
  const exact = dataBytes === undefined || rf64 ? undefined : dataBytes;
  let at = header.write(rf64 ? 'RF64' : 'RIFF', 'latin1');
  at = header.writeUInt32LE(exact === undefined ? UNKNOWN : riffSize(header.length, exact), at);
  at += header.write('WAVE', at, 'latin1');
  if (rf64 && dataBytes !== undefined) at = writeDs64(header, at, { format, dataBytes });
  at = writeFormat(header, at, format);
  if (format.encoding !== 'integer') {
    at = writeChunkHead(header, at, 'fact', FACT_BYTES);
    at = header.writeUInt32LE(exact === undefined ? UNKNOWN : Math.floor(exact / frameBytes(format)), at);
  }
  writeChunkHead(header, at, 'data', exact ?? UNKNOWN);
  return header;
}

function plainHeaderBytes({ encoding }: WavFormat): number {
  const content =
    encoding === 'integer' ? INTEGER_FMT_BYTES : OTHER_FMT_BYTES + CHUNK_HEAD_BYTES + FACT_BYTES;
  return RIFF_BYTES + CHUNK_HEAD_BYTES + content + CHUNK_HEAD_BYTES;
}

function needsRf64(format: WavFormat, dataBytes: number | undefined): boolean {
  return dataBytes !== undefined && riffSize(plainHeaderBytes(format), dataBytes) >= UNKNOWN;
}

function riffSize(header: number, dataBytes: number): number {
  return header - CHUNK_HEAD_BYTES + dataBytes + padding(dataBytes);
}

function writeChunkHead(header: Buffer, at: number, id: string, size: number): number {
  header.write(id, at, 'latin1');
  return header.writeUInt32LE(size, at + 4);
}

/** Writes the chunk of EBU Tech 3306. Its table of further sizes is empty. */
function writeDs64(header: Buffer, start: number, sound: { format: WavFormat; dataBytes: number }): number {
  const { format, dataBytes } = sound;
  let at = writeChunkHead(header, start, 'ds64', DS64_BYTES);
  at = header.writeBigUInt64LE(BigInt(riffSize(header.length, dataBytes)), at);
  at = header.writeBigUInt64LE(BigInt(dataBytes), at);
  at = header.writeBigUInt64LE(BigInt(Math.floor(dataBytes / frameBytes(format))), at);
  return header.writeUInt32LE(0, at);
}

function writeFormat(header: Buffer, start: number, format: WavFormat): number {
  const integer = format.encoding === 'integer';
  const frame = frameBytes(format);
  let at = writeChunkHead(header, start, 'fmt ', integer ? INTEGER_FMT_BYTES : OTHER_FMT_BYTES);
  at = header.writeUInt16LE(CODES[format.encoding], at);
  at = header.writeUInt16LE(format.channels, at);
  at = header.writeUInt32LE(format.sampleRate, at);
  at = header.writeUInt32LE(format.sampleRate * frame, at);
  at = header.writeUInt16LE(frame, at);
  at = header.writeUInt16LE(format.bitsPerSample, at);
  return integer ? at : header.writeUInt16LE(0, at);
}
