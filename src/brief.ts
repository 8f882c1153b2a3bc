import { help, version } from './cli/help.ts';
import type { Host } from './host.ts';
import { runCommand } from './run.ts';

export { hostOf } from './host.ts';

/**
 * `tts --help` and `tts --version` where they stand first: people and scripts expect them at once. A separate
 * bundle: code shared with the full program would be split into extra chunks there.
 * @returns the exit status
 */
export function main(host: Host): Promise<number> {
  const [asked = ''] = host.argv;
  const run = /^(?:-V|--version)$/.test(asked) ? version : help;
  // It is over before anybody could interrupt it.
  const { signal } = new AbortController();
  return runCommand({ host, signal }, async () => ({ run, argv: [], named: false }));
}
