import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { yieldToEventLoop } from '../../async.ts';
import { codeOf, type TtsError } from '../../error.ts';
import { notWritable, wasClosed } from '../../files/descriptor.ts';
import { isReaderGone, unwritable } from '../../files/writable.ts';
import type { Output } from '../../host.ts';

/** The outputs that were printed to by their stream. They stay with it, so that the order is kept. */
const streamed = new WeakSet<Output>();
const foundOpen = new WeakSet<Output>();

/**
 * Prints synchronously where it can: the stream takes 2 ms to set up. A reader that has gone is not an error.
 * @throws TtsError (output)
 */
export function printLine(stdout: Output, text: string): void {
  if (streamed.has(stdout)) {
    stdout.stream.write(`${text}\n`);
    return;
  }
  assertOpen(stdout);
  const bytes = Buffer.from(`${text}\n`);
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(stdout.fd, bytes, done);
  } catch (error) {
    if (isReaderGone(error as Error)) return;
    if (codeOf(error) !== 'EAGAIN') throw stdoutError(error);
    streamed.add(stdout);
    stdout.stream.on('error', () => {}).write(bytes.subarray(done));
  }
}

/** The descriptor of stderr. */
const STDERR = 2;

/**
 * Refuses a closed stdout, unless stderr is closed, too: programs that want only the status close both.
 * @throws TtsError (output)
 */
export function assertOpen(stdout: Output): void {
  if (foundOpen.has(stdout)) return;
  if (wasClosed(stdout.fd) && !wasClosed(STDERR)) throw stdoutError(notWritable());
  foundOpen.add(stdout);
}

/** Lines of a long output must not pile up in memory. */
export async function readerReady(stdout: Output): Promise<void> {
  await yieldToEventLoop();
  if (!streamed.has(stdout) || !stdout.stream.writableNeedDrain) return;
  const over = new AbortController();
  const waits = ['drain', 'close'].map((event) =>
    once(stdout.stream, event, { signal: over.signal }).catch(() => {}),
  );
  await Promise.race(waits);
  over.abort();
}

export function stdoutError(cause: unknown): TtsError {
  return unwritable('stdout', cause, 'send it elsewhere');
}
