import type { Host } from '../host.ts';

/** A question at the terminal; whatever does not begin with a "y" means no. */
export async function askYes(question: string, host: Host, signal: AbortSignal): Promise<boolean> {
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
