import type { Host } from '../host.ts';
import type { besideSpeaking } from './command-names.ts';
import type { Notices } from './notices.ts';

export interface Context {
  /** What was typed, without the command's own name. */
  readonly argv: readonly string[];
  /** Whether the command was called by its name. */
  readonly named: boolean;
  readonly host: Host;
  readonly notices: Notices;
  /** Aborts when the process is told to stop, with the error to end with. */
  readonly signal: AbortSignal;
}

/** @returns the exit status */
type Run = (context: Context) => Promise<number>;

type Load = () => Promise<{ run: Run }>;

/** The first word decides, if it is one of these; each is loaded only when it is called. */
const loads: Readonly<Record<'speak' | 'help' | (typeof besideSpeaking)[number], Load>> = {
  speak: () => import('./speak.ts'),
  serve: () => import('./serve/serve.ts'),
  speakers: () => import('./speakers/speakers.ts'),
  cache: () => import('./cache.ts'),
  config: () => import('./config.ts'),
  login: () => import('./login/login.ts'),
  logout: () => import('./login/logout.ts'),
  doctor: () => import('./doctor/doctor.ts'),
  completion: () => import('./completion/completion.ts'),
  manual: () => import('./manual.ts'),
  help: () => import('./help-command.ts'),
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
