import { type FileHandle, open } from 'node:fs/promises';

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
