import { type FileHandle, open } from 'node:fs/promises';
import { FileWriter, writeAt } from '../../kit/descriptor.ts';
import { ExitCode, TtsError } from '../../kit/error.ts';
import { unwritable } from '../../kit/folders.ts';
import { headerBytes, overheadBytes, padding, type WavFormat, wavHeader } from '../wav.ts';
import type { OpenFile, StreamingEncoding, Written } from './encoding.ts';

export const wav: StreamingEncoding = {
  name: 'wav',
  assertReady: async () => {},
  record: recordWav,
  stream: streamWav,
};

/** What goes into a WAV. */
export interface WavSound {
  readonly format: WavFormat;
  readonly bytes: number | undefined;
  readonly pcm: AsyncIterable<Uint8Array>;
}

/**
 * A file that can only be appended to has the header of a stream. So has one past 4 GiB whose samples cannot be moved.
 * @throws TtsError (output), (service) for sizes that cannot be put right; what the track throws
 */
export async function recordWav(file: OpenFile, track: WavSound, signal: AbortSignal): Promise<Written> {
  const { fd, name, start, isWatched } = file;
  const { format, pcm } = track;
  const writer = new FileWriter(fd, name);
  writer.write(wavHeader(format, start === undefined ? track.bytes : undefined));
  let bytes = 0;
  for await (const piece of pcm) {
    signal.throwIfAborted();
    bytes += piece.length;
    writer.write(piece);
    if (isWatched) writer.flush();
  }
  writer.write(new Uint8Array(padding(start === undefined ? track.bytes : bytes)));
  writer.flush();
  if (start === undefined) {
    assertAsPromised(bytes, track.bytes);
    return { bytes, writtenBytes: bytes + overheadBytes(format, track.bytes) };
  }
  const header = await writeSizes({ ...file, start }, { format, bytes }, signal);
  return { bytes, writtenBytes: header + bytes + padding(bytes) };
}

/** @returns the length of the header */
async function writeSizes(
  { fd, name, start, path }: OpenFile & { start: number },
  { format, bytes }: Pick<WavSound, 'format'> & { bytes: number },
  signal: AbortSignal,
): Promise<number> {
  const [old, exact] = [headerBytes(format, undefined), headerBytes(format, bytes)];
  try {
    if (exact > old) {
      if (!(await makeRoom(path, { from: start + old, bytes: exact - old }, signal))) return old;
    }
    writeAt(fd, wavHeader(format, bytes), start);
    return exact;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unwritable(name, error);
  }
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
 * The header has gone and cannot be corrected.
 * @throws TtsError (service)
 */
function assertAsPromised(bytes: number, promised: number | undefined): void {
  if (promised === undefined || bytes === promised) return;
  throw new TtsError(`the audio has ${bytes} bytes where its header says ${promised}`, {
    exitCode: ExitCode.service,
    hint: 'the service sent another length than it said at first: try again, with -o',
  });
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
 * @throws the signal's reason; the file is damaged then
 */
export async function shiftRight(
  file: FileHandle,
  from: number,
  by: number,
  signal?: AbortSignal,
): Promise<void> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  const { size } = await file.stat();
  // No byte is overwritten before it has moved.
  for (let end = size; end > from; ) {
    signal?.throwIfAborted();
    const start = Math.max(from, end - BLOCK_BYTES);
    const bytes = block.subarray(0, end - start);
    await readWhole(file, bytes, start);
    await writeWhole(file, bytes, start + by);
    end = start;
  }
}

async function readWhole(file: FileHandle, into: Buffer, position: number): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) throw new Error('the file became shorter while its samples were being moved');
    done += bytesRead;
  }
}

async function writeWhole(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
