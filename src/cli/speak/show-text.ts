import type { Writable } from 'node:stream';
import { unlessAborted } from '../../async.ts';
import { ExitCode } from '../../error.ts';
import { isReaderGone } from '../../files/writable.ts';
import { RunText, type TextPlan } from '../../speech/text.ts';
import { EMPTY_LINE, writtenOf } from '../../text/piece.ts';
import type { Context } from '../context.ts';
import { assertOpen, stdoutError } from '../terminal/print.ts';

/**
 * A reader that leaves is no error.
 * @throws TtsError (output)
 */
export async function showText(plan: TextPlan, { host, signal }: Context): Promise<number> {
  assertOpen(host.stdout);
  const { stream } = host.stdout;
  stream.on('error', () => {});
  let isBlank = true;
  const text = await RunText.open(plan, signal);
  for await (const piece of text.pieces(signal)) {
    const written: string = piece.kind === 'chapter' && !isBlank ? EMPTY_LINE : writtenOf(piece);
    isBlank &&= written.trim() === '';
    if (!(await print(stream, written, signal))) return ExitCode.ok;
  }
  if (isBlank) throw text.blank();
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
