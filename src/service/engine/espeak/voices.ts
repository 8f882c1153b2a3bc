import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../../../files/paths.ts';
import { type RunContext, withoutKeys } from '../../../host.ts';
import { inOneLine } from '../../../printable.ts';
import type { Speaker } from '../contract.ts';

export interface EspeakVoice {
  readonly speaker: Speaker;
  /** The voice's file below espeak-ng's folder of voices, which names it without doubt. */
  readonly file: string;
}

/** A system `espeak-ng` that can be used. */
export interface Espeak {
  /** Its whole name. */
  readonly program: string;
  readonly voices: readonly EspeakVoice[];
  /** Without the keys of this program. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const FIRST_NUMBER = 101;

/** Hz, of all voices of espeak-ng. */
export const ESPEAK_RATE = 22_050;

/** A line of `espeak-ng --voices`: `Pty Language Age/Gender VoiceName File OtherLanguages`. */
const LINE = /^\s*\d+\s+(?<language>\S+)\s+\S+\s+(?<name>\S+)\s+(?<file>\S+)/u;

/**
 * Asks espeak-ng for its voices and numbers them from 101, by language tag (BCP 47, in the case it has there) and name.
 *
 * @throws when the program cannot be run, or the signal aborts: that ends it
 */
export async function listEspeakVoices(
  program: string,
  env: Espeak['env'],
  signal: AbortSignal,
): Promise<EspeakVoice[]> {
  const options = { env, timeout: 10_000, killSignal: 'SIGKILL', signal } as const;
  const { stdout } = await promisify(execFile)(program, ['--voices'], options);
  const voices = stdout.split('\n').flatMap((line) => {
    const columns = LINE.exec(line)?.groups;
    return columns ? [columns] : [];
  });
  const ordered = voices
    .map(({ language = '', name = '', file = '' }) => ({
      language,
      name: readable(name),
      file,
    }))
    .sort((a, b) => compare(a.language, b.language) || compare(a.name, b.name) || compare(a.file, b.file));
  return ordered.map(({ language, name, file }, index) => ({
    speaker: { no: FIRST_NUMBER + index, name, kind: 'neo.one', language, sampleRate: ESPEAK_RATE },
    file,
  }));
}

/** By code units, so that the order is that of no locale. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function readable(name: string): string {
  return name.replaceAll('_', ' ').trim();
}

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
export async function findEspeak({ host, signal }: Pick<RunContext, 'host' | 'signal'>): Promise<Search> {
  const program = await findProgram('espeak-ng', host.env.PATH ?? '', host.platform);
  if (program === undefined) return {};
  const env = withoutKeys(host.env);
  try {
    return { espeak: { program, voices: await listEspeakVoices(program, env, signal), env } };
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
export async function espeakIfAny(context: RunContext): Promise<Espeak | undefined> {
  const { espeak, fault } = await findEspeak(context);
  if (fault !== undefined)
    context.notices.warn(`the voices of espeak-ng are missing, for it does not work: ${fault}`);
  return espeak;
}
