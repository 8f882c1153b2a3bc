import type { Writable } from 'node:stream';
import { unlessAborted } from '../../async.ts';
import { ExitCode } from '../../error.ts';
import { isReaderGone } from '../../files/writable.ts';
import type { Order } from '../../speech/job.ts';
import { readInput } from '../../text/input.ts';
import { blankText } from '../../text/source.ts';
import type { Context } from '../context.ts';
import { untold } from '../terminal/print.ts';

/**
 * Prints what would be spoken, and sends nothing. A reader that leaves is no error.
 * @throws TtsError (output) when it cannot be written
 */
export async function showText(order: Order, { host, signal }: Context): Promise<number> {
  const { stream } = host.stdout;
  // What goes wrong is told to whoever writes.
  stream.on('error', () => {});
  let isBlank = true;
  const { words, files, prepare } = order;
  const input = { words, files, prepare, cwd: host.cwd, stdin: () => host.stdin.stream };
  for await (const piece of readInput(input, signal)) {
    isBlank &&= piece.trim() === '';
    if (!(await print(stream, piece, signal))) return ExitCode.ok;
  }
  if (isBlank) throw blankText();
  await print(stream, '\n', signal);
  return ExitCode.ok;
}

/** @returns whether somebody reads there */
async function print(stream: Writable, text: string, signal: AbortSignal): Promise<boolean> {
  const written = new Promise<Error | null | undefined>((resolve) => stream.write(text, resolve));
  const error = await unlessAborted(written, signal);
  if (error && !isReaderGone(error)) throw untold(error);
  return !error;
}
