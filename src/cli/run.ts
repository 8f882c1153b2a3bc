import manifest from '../../package.json' with { type: 'json' };
import { ExitCode, TtsError } from '../kit/error.ts';
import { type Host, secretsIn } from '../kit/host.ts';
import { type Context, commandOf, commands } from './commands.ts';
import { helpOf } from './help.ts';
import { SHORT_HELP } from './help-text.ts';
import { Notices, paintFor } from './notices.ts';
import { printLine } from './print.ts';

/**
 * Runs the called command and prints its error.
 * @returns the exit status
 */
export async function runCommand(host: Host, signal: AbortSignal): Promise<number> {
  const notices = new Notices(host);
  try {
    const { argv } = host;
    notices.json = asksForJson(argv);
    notices.asLog = argv[0] === 'serve' && /(^| )--log[ =]json( |$)/.test(argv.join(' '));
    // Hide keys before the options are read: an error about them may quote a key.
    for (const key of [...secretsIn(host.env), ...typedKeys(argv)]) notices.hide(key.trim());
    const status = await run(argv, { host, notices, signal });
    notices.flushDelayed();
    return status;
  } catch (error) {
    return notices.failure(error, await paintFor(host));
  }
}

/** A first word that names no command is text. Nothing after a leading --help or --version is read. */
async function run(
  typed: readonly string[],
  common: Pick<Context, 'host' | 'notices' | 'signal'>,
): Promise<number> {
  const [first = '', ...rest] = typed;
  const { stdout } = common.host;
  if (/^(?:-V|--version)$/.test(first)) return print(stdout, manifest.version);
  if (/^(?:-h|--help)$/.test(first)) return print(stdout, SHORT_HELP);
  const named = commands.has(first);
  const argv = named ? rest : typed;
  const name = named ? first : 'speak';
  const context = { ...common, argv, named };
  // `tts help` takes its words unparsed, so that an option among them is no error.
  const command = () => loaded(commandOf(name).load);
  if (name === 'help') return (await command()).run({ flags: {}, words: argv }, context);
  const { readCommandLine } = await loaded(() => import('./command-line.ts'));
  const line = readCommandLine(name, context);
  if (line.asks === undefined) return (await command()).run(line, context);
  return print(stdout, line.asks === 'help' ? await helpOf(name, named) : manifest.version);
}

function print(stdout: Host['stdout'], text: string): ExitCode {
  printLine(stdout, text);
  return ExitCode.ok;
}

/** @throws TtsError (defect) if a file of the program is missing or damaged */
async function loaded<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const [what] = String(cause instanceof Error ? cause.message : cause).split('\n');
    throw new TtsError(`the program cannot be loaded: ${what}`, {
      exitCode: ExitCode.defect,
      hint: 'install it again, or npm run build',
    });
  }
}

/** Returns keys that were typed after `--api-key`, or after a misspelling such as `--apikey`. */
function typedKeys(argv: readonly string[]): string[] {
  return optionsIn(argv).flatMap((word, index, words) => {
    if (words[index - 1] === '--api-key') return word;
    return /^--api-?key[\s:=]*(.+)$/is.exec(word)?.[1] ?? [];
  });
}

/** Looks for `--json` before the options are read, so that an error about them is printed as JSON, too. */
function asksForJson(argv: readonly string[]): boolean {
  return optionsIn(argv).findLast((word) => /^--(?:no-)?json$/.test(word)) === '--json';
}

function optionsIn(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}
