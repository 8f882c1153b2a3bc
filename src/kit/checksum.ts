import { createHash, type Hash, hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Bytes. A smaller file is read whole. */
const SMALL_FILE = 4 * 1024 * 1024;

/** Bytes that are read at a time. */
const BLOCK = 1024 * 1024;

export interface ChecksumOptions {
  readonly algorithm?: 'sha256' | 'md5';
  readonly signal?: AbortSignal;
}

/**
 * The checksum of a file.
 * @returns hexadecimal digits
 * @throws the error of the system, or the reason of the signal
 */
export async function checksumOf(path: string, options: ChecksumOptions = {}): Promise<string> {
  if (statSync(path).size <= SMALL_FILE) return hash(options.algorithm ?? 'sha256', readFileSync(path));
  return (await hashOf(path, options)).digest('hex');
}

/** Like {@link checksumOf}, but returns a hash that can be continued. */
export async function hashOf(
  path: string,
  { algorithm = 'sha256', signal }: ChecksumOptions = {},
): Promise<Hash> {
  const running = createHash(algorithm);
  await using file = await open(path);
  // Reads one block while the one before is hashed.
  let [block, spare] = [Buffer.allocUnsafe(BLOCK), Buffer.allocUnsafe(BLOCK)];
  for (let next = file.read(block); ; ) {
    const { bytesRead } = await next;
    if (bytesRead === 0) return running;
    signal?.throwIfAborted();
    next = file.read(spare);
    running.update(block.subarray(0, bytesRead));
    [block, spare] = [spare, block];
  }
}

/** Returns a source for the content security policy of a page, which allows the page's own script or style. */
export function digestIn(page: string, tag: 'script' | 'style'): string {
  const [, text = ''] = page.split(new RegExp(`</?${tag}[^>]*>`));
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}
