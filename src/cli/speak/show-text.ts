import type { Writable } from 'node:stream';
import { unlessAborted } from '../../async.ts';
import { ExitCode } from '../../error.ts';
import { isReaderGone } from '../../files/writable.ts';
import { readInput } from '../../reading/source.ts';
import type { TextSource } from '../../speech/readers.ts';
import { blankText } from '../../speech/text.ts';
import type { Context } from '../context.ts';
import { assertOpen, stdoutError } from '../terminal/print.ts';

/**
 * A reader that leaves is no error.
 * @throws TtsError (output)
 */
export async function showText(text: TextSource, { host, signal }: Context): Promise<number> {
  assertOpen(host.stdout);
  const { stream } = host.stdout;
  stream.on('error', () => {});
  let isBlank = true;
  const input = { ...text, cwd: host.cwd, stdin: () => host.stdin.stream };
  for await (const piece of readInput(input, signal)) {
    isBlank &&= piece.trim() === '';
    if (!(await print(stream, piece, signal))) return ExitCode.ok;
  }
  if (isBlank) throw blankText();
  await print(stream, '\n', signal);
  return ExitCode.ok;
}

/** @returns false if the reader has left */
async function print(stream: Writable, text: string, signal: AbortSignal): Promise<boolean> {
  const written = new Promise<Error | null | undefined>((resolve) => stream.write(text, resolve));
  const error = await unlessAborted(written, signal);
  if (error && !isReaderGone(error)) throw stdoutError(error);
  return !error;
}
