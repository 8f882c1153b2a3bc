import { open } from 'node:fs/promises';
import { shiftRight } from '../audio/shift.ts';

/**
 * Makes room in a file by moving all that follows an offset. Loaded when needed: once in 27 hours of sound.
 * @returns whether the file could be opened for that
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
