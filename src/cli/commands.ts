import type { Host } from '../host.ts';
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

type Load = (host: Host) => Promise<{ run: Run }>;

/** The first word decides, if it is one of these; each is loaded only when it is called. */
const commands: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['speak', loadSpeak],
  ['serve', () => import('./serve.ts')],
  ['speakers', () => import('./speakers.ts')],
  ['cache', () => import('./cache.ts')],
  ['config', () => import('./config.ts')],
  ['login', () => import('./login.ts')],
  ['logout', () => import('./logout.ts')],
  ['doctor', () => import('./doctor.ts')],
  ['completion', () => import('./completion.ts')],
  ['manual', () => import('./manual.ts')],
  ['help', () => import('./help-command.ts')],
  // Spared the parser: people and scripts ask for these alone, and expect them at once.
  ['-h', async () => ({ run: (await import('./help.ts')).help })],
  ['--help', async () => ({ run: (await import('./help.ts')).help })],
  ['-V', async () => ({ run: (await import('./help.ts')).version })],
  ['--version', async () => ({ run: (await import('./help.ts')).version })],
]);

/** What else there is than to speak, by name. */
export const besideSpeaking = [...commands.keys()].filter((name) => !/^(?:-.*|speak|help)$/.test(name));

type Called = Pick<Context, 'argv' | 'named'> & { readonly run: Run };

/** The command that was called, and what is left for it. Whatever is not a command's name is to be spoken. */
export async function commandOf(host: Host, argv = host.argv): Promise<Called> {
  const [first = '', ...rest] = argv;
  const load = commands.get(first);
  if (!load) return { ...(await loadSpeak(host)), argv, named: false };
  return { ...(await load(host)), argv: rest, named: !first.startsWith('-') };
}

async function loadSpeak(host: Host): Promise<{ run: Run }> {
  const { reuseCode } = await import('../code-cache.ts');
  reuseCode(host);
  return import('./speak.ts');
}
