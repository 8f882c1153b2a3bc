import type { Host } from '../host.ts';

/**
 * A question at the terminal; whatever does not begin with a "y" means no.
 * @returns `undefined` where there is nobody to ask
 */
export async function askYes(
  question: string,
  host: Host,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (!host.stdin.isTTY) return undefined;
  const { stream } = host.stdin;
  host.stderr.stream.write(`${question} [y/N] `);
  try {
    return await new Promise<boolean>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      stream.once('data', (line) => resolve(/^\s*y/i.test(String(line))));
      stream.once('end', () => resolve(false)).once('error', reject);
    });
  } finally {
    stream.pause();
  }
}
