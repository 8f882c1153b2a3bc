import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

export const TALLY = 'tally';

/** What one byte of the tally stands for. */
const UNIT_BYTES = 4096;

const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/**
 * Counts what all runs have written together, so that the cache need not be looked through at each of them. The count
 * is the length of a file: appending is a thing that several processes can do at once without losing one.
 * @returns whether `limit` bytes have come together; counting then begins anew
 */
export async function tally(folder: string, bytes: number, limit: number): Promise<boolean> {
  const file = await open(join(folder, TALLY), APPENDING, 0o600);
  try {
    await file.writeFile(Buffer.alloc(Math.ceil(bytes / UNIT_BYTES)));
    const { size } = await file.stat();
    if (size * UNIT_BYTES < limit) return false;
    await file.truncate(0);
    return true;
  } finally {
    await file.close();
  }
}
