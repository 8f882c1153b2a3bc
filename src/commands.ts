import type { besideSpeaking, Context } from './cli/context.ts';
import { usageError } from './error.ts';

/** @returns the exit status */
type Run = (context: Context) => Promise<number>;

type Load = () => Promise<{ run: Run }>;

/** The first word decides, if it is one of these; each is loaded only when it is called. */
const loads: Readonly<Record<'speak' | 'help' | (typeof besideSpeaking)[number], Load>> = {
  speak: () => import('./cli/speak/command.ts'),
  serve: () => import('./cli/serve/serve.ts'),
  speakers: () => import('./cli/speakers/speakers.ts'),
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

export type Called = Pick<Context, 'argv' | 'named'> & { readonly run: Run };

/** The command that was called, and what is left for it. Whatever is not a command's name is to be spoken. */
export async function commandOf(argv: readonly string[]): Promise<Called> {
  const [first = '', ...rest] = argv;
  const load = commands.get(first);
  const { run } = await (load ?? loads.speak)();
  return load ? { run, argv: rest, named: true } : { run, argv, named: false };
}

/** `tts help`, and `tts help <command>` for the help of a command. */
async function runHelp(context: Context): Promise<number> {
  const [name, ...more] = context.argv;
  if (name === undefined || name.startsWith('-')) {
    const { help } = await import('./cli/help.ts');
    return help({ host: context.host, named: false });
  }
  const { run, named } = await commandOf([name]);
  if (named && more.length === 0) return run({ ...context, argv: ['--help'], named });
  // Loaded only now: it comes with the parser.
  const { assertWordsUtf8 } = await import('./cli/assert-utf8.ts');
  assertWordsUtf8(context.argv, context.host);
  throw usageError(
    `tts help does not know "${named ? more[0] : name}"`,
    'see tts help; to speak the words: tts speak help ...',
  );
}
