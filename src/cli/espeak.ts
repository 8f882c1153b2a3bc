import type { ExecFileException } from 'node:child_process';
import { findProgram } from '../find-program.ts';
import { inOneLine } from '../printable.ts';
import { type Espeak, listEspeakVoices } from '../service/engine/espeak-voices.ts';
import type { Context } from './commands.ts';

/** What became of the search for a system `espeak-ng`. */
interface Search {
  /** None where it is not installed, or does not work. */
  readonly espeak?: Espeak;
  /** Why one that is installed cannot be used. */
  readonly fault?: string;
}

/**
 * Looks for `espeak-ng` on the `PATH`, and asks it for its voices.
 * @throws the reason of the signal
 */
export async function findEspeak({ host, signal }: Pick<Context, 'host' | 'signal'>): Promise<Search> {
  const program = await findProgram('espeak-ng', host.env.PATH ?? '', host.platform);
  if (program === undefined) return {};
  try {
    return { espeak: { program, voices: await listEspeakVoices(program, signal) } };
  } catch (error) {
    signal.throwIfAborted();
    return { fault: reasonOf(error as ExecFileException) };
  }
}

/** In its own words, where it has some: they follow what Node says. */
function reasonOf({ message, killed }: ExecFileException): string {
  if (killed) return 'it does not answer';
  return inOneLine(message.trim().split('\n').at(-1) ?? '');
}

/** The same for whoever does without: one that does not work is told of, and then as good as none. */
export async function espeakIfAny(context: Context): Promise<Espeak | undefined> {
  const { espeak, fault } = await findEspeak(context);
  if (fault !== undefined)
    context.notices.warn(`the voices of espeak-ng are missing, for it does not work: ${fault}`);
  return espeak;
}
