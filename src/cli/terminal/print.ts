import { writeSync } from 'node:fs';
import type { TtsError } from '../../error.ts';
import { isReaderGone, unwritable } from '../../files/writable.ts';
import type { Output } from '../../host.ts';

/**
 * Prints a short text on standard output: help, a version, a result. Writes synchronously where possible, since the stream
 * takes 2 ms to set up. A reader that left is no error.
 * @throws TtsError (output) when it cannot be written
 */
export function printLine(stdout: Output, text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(stdout.fd, bytes, done);
  } catch (error) {
    if (isReaderGone(error as Error)) return;
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw stdoutError(error);
    stdout.stream.once('error', () => {}).write(bytes.subarray(done));
  }
}

export function stdoutError(cause: unknown): TtsError {
  return unwritable('stdout', cause, 'send it elsewhere');
}
