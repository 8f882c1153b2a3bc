import type { Host } from '../host.ts';
import type { Called } from './commands.ts';
import { interruption } from './interruption.ts';
import { Notices } from './notices.ts';
import { paintFor } from './paint.ts';

/**
 * Runs the command that a host's arguments call, and prints whatever goes wrong.
 * @returns the exit status; nothing is left behind that would keep the process alive
 */
export async function runCommand(
  host: Host,
  commandOf: (argv: readonly string[]) => Promise<Called>,
): Promise<number> {
  const notices = new Notices(host);
  const { signal, stop } = interruption(host);
  try {
    notices.json = asksForJson(host.argv);
    // Also where it stands in the place of something else, and is complained about before anybody asks for the key.
    notices.hide(host.env.TTS_API_KEY?.trim() ?? '');
    const { run, argv, named } = await commandOf(host.argv);
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
