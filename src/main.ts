import { reuseCode } from './code-cache.ts';
import type { Host } from './host.ts';

export { hostOf } from './host-of.ts';

/**
 * Runs the command line of a host to its end. All but the way to the compiled code comes behind that way.
 * @returns the exit status
 */
export async function main(host: Host): Promise<number> {
  reuseCode(host);
  const [{ runCommand }, { commandOf }] = await Promise.all([
    import('./cli/run.ts'),
    import('./cli/commands.ts'),
  ]);
  return runCommand(host, commandOf);
}
