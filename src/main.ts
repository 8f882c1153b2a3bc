import { reuseCode } from './code-cache.ts';
import { interruption } from './exit.ts';
import type { Host } from './host.ts';

export { hostOf } from './host.ts';

/**
 * Runs the command line of a host to its end. Everything but the code cache itself is loaded through that cache.
 * @returns the exit status; nothing is left behind that would keep the process alive
 */
export async function main(host: Host): Promise<number> {
  const { signal, stop } = interruption(host);
  try {
    reuseCode(host);
    const [{ runCommand }, { commandOf }] = await Promise.all([import('./run.ts'), import('./commands.ts')]);
    return await runCommand({ host, signal }, commandOf);
  } finally {
    stop();
  }
}
