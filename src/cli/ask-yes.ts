import { unlessAborted } from '../aborted.ts';
import type { Context } from './commands.ts';

/**
 * A question at the terminal; whatever does not begin with a "y" means no.
 * @returns `undefined` where there is nobody to ask
 */
export async function askYes(
  question: string,
  { host, notices, signal }: Context,
): Promise<boolean | undefined> {
  if (!host.stdin.isTTY) return undefined;
  const { stream } = host.stdin;
  notices.ask(`${question} [y/N] `);
  try {
    const answer = new Promise<boolean>((resolve, reject) => {
      stream.once('data', (line) => resolve(/^\s*y/i.test(String(line))));
      stream.once('end', () => resolve(false)).once('error', reject);
    });
    return await unlessAborted(answer, signal);
  } finally {
    stream.pause();
  }
}
