import { open } from 'node:fs/promises';
import { shiftRight } from '../audio/shift.ts';

/** Makes room in a file by moving all that follows an offset. Loaded when needed: once in 27 hours of sound. */
export async function makeRoom(
  path: string,
  room: { from: number; bytes: number },
  signal: AbortSignal,
): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await shiftRight(file, room.from, room.bytes, signal);
  } finally {
    await file.close();
  }
}
