import { commandOf } from './cli/commands.ts';
import { interruption } from './cli/interruption.ts';
import { Notices } from './cli/notices.ts';
import { paintFor } from './cli/paint.ts';
import type { Host } from './host.ts';

export { hostOf } from './host-of.ts';

/**
 * Runs the command line of a host to its end.
 * @returns the exit status; nothing is left behind that would keep the process alive
 */
export async function main(host: Host): Promise<number> {
  const notices = new Notices(host);
  const { signal, stop } = interruption(host);
  try {
    notices.json = asksForJson(host.argv);
    // Also where it stands in the place of something else, and is complained about before anybody asks for the key.
    notices.hide(host.env.TTS_API_KEY?.trim() ?? '');
    const { run, argv, named } = await commandOf(host);
    return await run({ argv, named, host, notices, signal });
  } catch (error) {
    return notices.failure(error, await paintFor(host));
  } finally {
    stop();
  }
}

/** Known before the options are read, so that a complaint about them is in JSON already. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}
