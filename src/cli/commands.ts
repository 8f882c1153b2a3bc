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
export type Run = (context: Context) => Promise<number>;

/** The first word decides, if it is one of these; each is loaded only when it is called. */
const commands: ReadonlyMap<string, () => Promise<{ run: Run }>> = new Map<
  string,
  () => Promise<{ run: Run }>
>([
  ['speak', () => import('./speak.ts')],
  ['serve', () => import('./serve.ts')],
  // Spared the parser: people and scripts ask for these alone, and expect them at once.
  ...['-h', '--help'].map((word) => [word, async () => ({ run: (await import('./help.ts')).help })] as const),
  ...['-V', '--version'].map(
    (word) => [word, async () => ({ run: (await import('./help.ts')).version })] as const,
  ),
]);

/** The command that a command line calls, and what is left for it. Without a command's name it is to be spoken. */
export async function commandOf(
  typed: readonly string[],
): Promise<Pick<Context, 'argv' | 'named'> & { readonly run: Run }> {
  const [first = '', ...rest] = typed;
  const load = commands.get(first);
  const { run } = load ? await load() : await import('./speak.ts');
  return { run, argv: load ? rest : typed, named: load !== undefined && !first.startsWith('-') };
}
