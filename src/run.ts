import type { besideSpeaking, Context } from './cli/context.ts';
import { help, version } from './cli/help.ts';
import { Notices } from './cli/terminal/notices.ts';
import { paintFor } from './cli/terminal/style.ts';
import { ExitCode, TtsError, usageError } from './error.ts';
import type { Host } from './host.ts';

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
    for (const key of [host.env.TTS_API_KEY ?? '', ...typedKeys(argv)]) notices.hide(key.trim());
    const { run, ...called } = await commandOf(argv);
    if (run !== help && run !== version) await delayTierUp(host);
    const status = await run({ ...called, host, notices, signal });
    notices.tellHeldBack();
    return status;
  } catch (error) {
    return notices.failure(error, await paintFor(host));
  }
}

/**
 * Node 20 optimises undici's WebAssembly parser with the first answer, which takes 90 ms. Later versions lose 5 to 10 ms by
 * this flag.
 */
async function delayTierUp({ runtime }: Host): Promise<void> {
  if (!runtime.startsWith('v20.')) return;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--wasm-tiering-budget=100000000');
}

type Run = (context: Context) => Promise<number>;

type Load = () => Promise<{ run: Run }>;

/** A command is loaded when it is called. */
const loads: Readonly<Record<'speak' | 'help' | (typeof besideSpeaking)[number], Load>> = {
  speak: () => import('./cli/speak/command.ts'),
  serve: () => import('./cli/serve/serve.ts'),
  speakers: () => import('./cli/speakers/speakers.ts'),
  batch: () => import('./cli/batch/command.ts'),
  cache: () => import('./cli/cache.ts'),
  config: () => import('./cli/config.ts'),
  login: () => import('./cli/login/login.ts'),
  logout: async () => ({ run: (await import('./cli/login/login.ts')).runLogout }),
  doctor: () => import('./cli/doctor/doctor.ts'),
  completion: () => import('./cli/shell/completion.ts'),
  manual: () => import('./cli/shell/manual.ts'),
  help: async () => ({ run: runHelp }),
};

const commands: ReadonlyMap<string, Load> = new Map(Object.entries(loads));

type Called = Pick<Context, 'argv' | 'named'> & { readonly run: Run };

/** A first word that names no command is text. */
async function commandOf(argv: readonly string[]): Promise<Called> {
  const [first = '', ...rest] = argv;
  if (/^(?:-h|--help)$/.test(first)) return { run: help, argv: rest, named: false };
  if (/^(?:-V|--version)$/.test(first)) return { run: version, argv: rest, named: false };
  const load = commands.get(first);
  const { run } = await (load ?? loads.speak)().catch(refuseToLoad);
  return load ? { run, argv: rest, named: true } : { run, argv, named: false };
}

/** A file of the program is missing or damaged. */
function refuseToLoad(cause: unknown): never {
  const [what] = String(cause instanceof Error ? cause.message : cause).split('\n');
  throw new TtsError(`the program cannot be loaded: ${what}`, {
    exitCode: ExitCode.defect,
    hint: 'install it again, or npm run build',
  });
}

async function runHelp(context: Context): Promise<number> {
  const [name, ...more] = context.argv;
  if (name === undefined || name.startsWith('-')) return help({ ...context, named: false });
  const { run, named } = await commandOf([name]);
  if (named && more.length === 0) return run({ ...context, argv: ['--help'], named });
  const { assertWordsUtf8 } = await import('./cli/assert-utf8.ts');
  assertWordsUtf8(context.argv, context.host);
  throw usageError(
    `tts help does not know "${named ? more[0] : name}"`,
    'see tts help; to speak the words: tts speak help ...',
  );
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
