import type { Host } from '../kit/host.ts';
import { secretsIn } from '../kit/host.ts';
import { type Context, commands } from './commands.ts';
import { help, loadCommand, version } from './help.ts';
import { Notices, paintFor } from './notices.ts';

/**
 * Runs the called command and prints its error.
 * @returns the exit status
 */
export async function runCommand(host: Host, signal: AbortSignal): Promise<number> {
  const notices = new Notices(host);
  try {
    const { argv } = host;
    notices.json = asksForJson(argv);
    // An error about the options may quote the key.
    for (const key of [...secretsIn(host.env), ...typedKeys(argv)]) notices.hide(key.trim());
    const { run, ...called } = await commandOf(argv);
    const status = await run({ ...called, host, notices, signal });
    notices.tellHeldBack();
    return status;
  } catch (error) {
    return notices.failure(error, await paintFor(host));
  }
}

type Run = (context: Context) => Promise<number>;

type Called = Pick<Context, 'argv' | 'named'> & { readonly run: Run };

/** A first word that is not the name of a command is text. */
async function commandOf(argv: readonly string[]): Promise<Called> {
  const [first = '', ...rest] = argv;
  if (/^(?:-h|--help)$/.test(first)) return { run: help, argv: rest, named: false };
  if (/^(?:-V|--version)$/.test(first)) return { run: version, argv: rest, named: false };
  const named = commands.has(first);
  const { run } = await loadCommand(named ? first : 'speak');
  return { run, argv: named ? rest : argv, named };
}

/** A misspelled option holds a key as well. */
function typedKeys(argv: readonly string[]): string[] {
  return optionsIn(argv).flatMap((word, index, words) => {
    if (words[index - 1] === '--api-key') return word;
    return /^--api-?key[\s:=]*(.+)$/is.exec(word)?.[1] ?? [];
  });
}

/** An error about the options is printed as JSON, too. */
function asksForJson(argv: readonly string[]): boolean {
  return optionsIn(argv).findLast((word) => /^--(?:no-)?json$/.test(word)) === '--json';
}

function optionsIn(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}
