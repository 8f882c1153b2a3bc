import { writeSync } from 'node:fs';
import type { Output } from '../host.ts';

/**
 * Short text for standard output: help, a version, a result for programs. Written at once where that is possible,
 * since setting up the stream costs 2 ms; a reader that has left is no error.
 */
export function tell(stdout: Output, text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(stdout.fd, bytes, done);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPIPE') return;
    if (code !== 'EAGAIN') throw error;
    stdout.stream.once('error', () => {}).write(bytes.subarray(done));
  }
}
