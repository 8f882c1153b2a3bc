import type { Context } from './cli/context.ts';
import { Notices } from './cli/terminal/notices.ts';
import { paintFor } from './cli/terminal/style.ts';
import type { Called } from './commands.ts';

/**
 * Runs the command that a host's arguments call, and prints whatever goes wrong.
 * @returns the exit status
 */
export async function runCommand(
  { host, signal }: Pick<Context, 'host' | 'signal'>,
  commandOf: (argv: readonly string[]) => Promise<Called>,
): Promise<number> {
  const notices = new Notices(host);
  try {
    notices.json = asksForJson(host.argv);
    // Also where it stands in the place of something else, and is complained about before anybody asks for the key.
    for (const key of [host.env.TTS_API_KEY ?? '', ...typedKeys(host.argv)]) notices.hide(key.trim());
    const { run, argv, named } = await commandOf(host.argv);
    const status = await run({ argv, named, host, notices, signal });
    notices.tellDoubts();
    return status;
  } catch (error) {
    return notices.failure(error, await paintFor(host));
  }
}

/** Also what is only near to the option: who mistypes it has typed a key all the same. */
function typedKeys(argv: readonly string[]): string[] {
  return options(argv).flatMap((word, index, words) => {
    if (words[index - 1] === '--api-key') return word;
    return /^--api-?key[\s:=]*(.+)$/is.exec(word)?.[1] ?? [];
  });
}

/** Known before the options are read, so that a complaint about them is in JSON already. */
function asksForJson(argv: readonly string[]): boolean {
  return options(argv).findLast((word) => /^--(?:no-)?json$/.test(word)) === '--json';
}

/** Behind `--` there are words only. */
function options(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}
