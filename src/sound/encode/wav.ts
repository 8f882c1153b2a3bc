import { writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { readAt, writeAt } from '../../kit/descriptor.ts';
import { ExitCode, TtsError } from '../../kit/error.ts';
import { frameBytes, type PcmFormat } from '../pcm.ts';
import {
  type OpenFile,
  type StreamingEncoding,
  type WrittenSize,
  writeEnd,
  writeStream,
} from './encoding.ts';

export const wav: StreamingEncoding = {
  name: 'wav',
  assertReady: async () => {},
  record: recordWav,
  stream: streamWav,
};

/** The sound of a WAV. */
export interface WavSound {
  readonly format: WavFormat;
  readonly bytes: number | undefined;
  readonly pcm: AsyncIterable<Uint8Array>;
}

/**
 * A file that can only be appended to gets the header of a stream; so does one past 4 GiB whose samples cannot move.
 * @throws TtsError (output), (service) for sizes that cannot be corrected; whatever the track throws
 */
export async function recordWav(file: OpenFile, sound: WavSound, signal: AbortSignal): Promise<WrittenSize> {
  const { start } = file;
  if (start === undefined) return writeStream(file, (onSound) => streamWav(sound, onSound), signal);
  const { format } = sound;
  const unsized = { ...sound, bytes: undefined };
  const { bytes } = await writeStream(file, (onSound) => streamWav(unsized, onSound), signal);
  const header = await writeEnd(file, signal, async ({ fd, path }) => {
    const [old, exact] = [headerBytes(format, undefined), headerBytes(format, bytes)];
    // Whatever is written to this descriptor next must come after the padding.
    if (padding(bytes) > 0) writeSync(fd, new Uint8Array(1));
    if (exact > old && !(await makeRoom(path, { from: start + old, bytes: exact - old }, signal))) return old;
    writeAt(fd, wavHeader(format, bytes), start);
    return exact;
  });
  return { bytes, writtenBytes: header + bytes + padding(bytes) };
}

export async function* streamWav(
  { format, bytes, pcm }: WavSound,
  onSound: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  yield wavHeader(format, bytes);
  let sound = 0;
  for await (const piece of pcm) {
    sound += piece.length;
    onSound(piece.length);
    yield piece;
  }
  assertAsPromised(sound, bytes);
  if (padding(bytes) > 0) yield new Uint8Array(padding(bytes));
}

/**
 * Checks a size in a header that was already sent.
 * @throws TtsError (service)
 */
function assertAsPromised(bytes: number, promised: number | undefined): void {
  if (promised === undefined || bytes === promised) return;
  throw new TtsError(`the audio has ${bytes} bytes where its header says ${promised}`, {
    exitCode: ExitCode.service,
    hint: 'the service sent another length than it said at first: try again, with -o',
  });
}

/** The sample format of a WAV: PCM, or one G.711 byte per sample. */
export interface WavFormat extends Omit<PcmFormat, 'encoding'> {
  readonly encoding: PcmFormat['encoding'] | 'alaw' | 'ulaw';
}

/** Format tags of the `fmt ` chunk. */
const CODES: Readonly<Record<WavFormat['encoding'], number>> = { integer: 1, float: 3, alaw: 6, ulaw: 7 };

const RIFF_HEAD_BYTES = 12;

/** The placeholder size of a stream, as ffmpeg writes it, and of an RF64. */
const UNKNOWN = 0xffff_ffff;

const CHUNK_HEAD_BYTES = 8;
const INTEGER_FMT_BYTES = 16;
/** All formats but integers have a longer `fmt ` chunk, and a `fact` chunk. */
const OTHER_FMT_BYTES = 18;
const FACT_BYTES = 4;
const DS64_BYTES = 28;

export const RF64_EXTRA_BYTES = CHUNK_HEAD_BYTES + DS64_BYTES;

/** A stream gets no padding byte: without a size in the header, it would be taken for sound. */
export function padding(dataBytes: number | undefined): 0 | 1 {
  return dataBytes === undefined || dataBytes % 2 === 0 ? 0 : 1;
}

/** Returns 44 bytes for integers or 58 for others, plus {@link RF64_EXTRA_BYTES} if a size needs more than 32 bits. */
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
  return RIFF_HEAD_BYTES + CHUNK_HEAD_BYTES + content + CHUNK_HEAD_BYTES;
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

/** Writes the `ds64` chunk (EBU Tech 3306) with an empty table of further sizes. */
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

/**
 * Makes room in a file for what is only known at its end: the longer header of RF64, or the tag of an MP3.
 * @returns false if the file could not be opened
 */
export async function makeRoom(
  path: string,
  room: { from: number; bytes: number },
  signal: AbortSignal,
): Promise<boolean> {
  const file = await open(path, 'r+').catch(() => undefined);
  if (!file) return false;
  try {
    await shiftRight(file, room.from, room.bytes, signal);
    return true;
  } finally {
    await file.close();
  }
}

const BLOCK_BYTES = 1024 * 1024;

/**
 * Moves the end of a file to the right, in place.
 * @throws the signal's reason; the file is then damaged
 */
export async function shiftRight(
  file: FileHandle,
  from: number,
  by: number,
  signal?: AbortSignal,
): Promise<void> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  const { size } = await file.stat();
  // From the end backwards, so that no byte is overwritten before it has moved.
  for (let end = size; end > from; ) {
    signal?.throwIfAborted();
    const start = Math.max(from, end - BLOCK_BYTES);
    const bytes = block.subarray(0, end - start);
    await readAt(file, bytes, start);
    await writeWhole(file, bytes, start + by);
    end = start;
  }
}

async function writeWhole(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
