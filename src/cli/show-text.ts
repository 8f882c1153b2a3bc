import { once } from 'node:events';
import { ExitCode } from '../error.ts';
import { blankText } from '../text/blank.ts';
import { readInput } from '../text/input.ts';
import type { Context } from './commands.ts';
import type { Order } from './task.ts';

/** Prints what would be spoken, and sends nothing. */
export async function showText(order: Order, { host, signal }: Context): Promise<number> {
  const { stream } = host.stdout;
  let hasLeft = false;
  let isBlank = true;
  stream.on('error', () => {
    hasLeft = true;
  });
  const { words, files, prepare } = order;
  const input = { words, files, prepare, cwd: host.cwd, stdin: () => host.stdin.stream };
  for await (const piece of readInput(input, signal)) {
    if (hasLeft) return ExitCode.ok;
    isBlank &&= piece.trim() === '';
    if (!stream.write(piece)) await once(stream, 'drain', { signal }).catch(() => signal.throwIfAborted());
  }
  if (isBlank) throw blankText();
  stream.write('\n');
  return ExitCode.ok;
}
