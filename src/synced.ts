import { fsync } from 'node:fs';
import { promisify } from 'node:util';

const sync = promisify(fsync);

/** What file systems answer that cannot be asked for it. */
const UNABLE = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/**
 * Resolves when what was written to an open file is on its disk, as far as its file system can tell.
 * @throws what the system says where it cannot be written there
 */
export async function synced(fd: number): Promise<void> {
  try {
    await sync(fd);
  } catch (error) {
    if (!UNABLE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
