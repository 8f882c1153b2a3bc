import { findProgram } from '../../files/paths.ts';
import { outputOf, ProgramError } from '../../files/program-output.ts';
import type { RunContext } from '../../host.ts';
import { inOneLine } from '../../printable.ts';
import type { Speaker } from '../contract.ts';

export interface EspeakVoice {
  readonly speaker: Speaker;
  /** Unique, below espeak-ng's folder of voices. */
  readonly file: string;
}

export interface Espeak {
  /** It is an absolute path. */
  readonly program: string;
  readonly voices: readonly EspeakVoice[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const FIRST_NUMBER = 101;

/** Milliseconds for the list of voices. */
const PATIENCE_MS = 10_000;

/** Hz. */
export const ESPEAK_RATE = 22_050;

/** `Pty Language Age/Gender VoiceName File OtherLanguages`, the last as in `(fr 5)(fr-fr 5)`. */
const LINE = /^\s*\d+\s+(?<language>\S+)\s+\S+\s+(?<name>\S+)\s+(?<file>\S+)(?<others>.*)/u;

/**
 * Numbered from 101 by language tag and name.
 * @throws when the program cannot be run
 */
export async function listEspeakVoices(
  program: string,
  env: Espeak['env'],
  signal: AbortSignal,
): Promise<EspeakVoice[]> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const listed = await outputOf(program, ['--voices'], { env, signal: until });
  const voices = listed
    .toString()
    .split('\n')
    .flatMap((line) => {
      const columns = LINE.exec(line)?.groups;
      return columns ? [columns] : [];
    });
  const ordered = voices
    .map(({ language = '', name = '', file = '', others = '' }) => ({
      language,
      name: displayName(name),
      file,
      alsoSpeaks: furtherTags(language, others),
    }))
    .sort((a, b) => compare(a.language, b.language) || compare(a.name, b.name) || compare(a.file, b.file));
  return ordered.map(({ language, name, file, alsoSpeaks }, index) => ({
    speaker: {
      no: FIRST_NUMBER + index,
      name,
      kind: 'neo.one',
      language,
      ...(alsoSpeaks.length > 0 && { alsoSpeaks }),
      sampleRate: ESPEAK_RATE,
    },
    file,
  }));
}

/** `es-mx` for the voice of `es-419`, and `no` for `nb`. That a voice of `fr-be` speaks `fr` needs no words. */
function furtherTags(language: string, others: string): string[] {
  const [base = ''] = language.split('-');
  const tags = Array.from(others.matchAll(/\((\S+) \d+\)/g), ([, tag = '']) => tag.toLowerCase());
  return tags.filter((tag) => tag !== base);
}

/** The same order in every locale. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function displayName(name: string): string {
  return name.replaceAll('_', ' ').trim();
}

interface Search {
  readonly espeak?: Espeak;
  readonly fault?: string;
}

export async function findEspeak({ host, signal }: Pick<RunContext, 'host' | 'signal'>): Promise<Search> {
  const program = await findProgram('espeak-ng', host.env.PATH ?? '', host.platform);
  if (program === undefined) return {};
  const { env } = host;
  try {
    return { espeak: { program, voices: await listEspeakVoices(program, env, signal), env } };
  } catch (error) {
    signal.throwIfAborted();
    return { fault: reasonOf(error as Error, program) };
  }
}

function reasonOf(error: Error, program: string): string {
  const { message, name } = error;
  if (name === 'TimeoutError') return 'it does not answer';
  if (error instanceof ProgramError && !error.hasWords) return `Command failed: ${program} --voices`;
  return inOneLine(message.trim().split('\n').at(-1) ?? '');
}

export async function espeakIfAny(context: RunContext): Promise<Espeak | undefined> {
  const { espeak, fault } = await findEspeak(context);
  if (fault !== undefined)
    context.notices.warn(`the voices of espeak-ng are missing, for it does not work: ${fault}`);
  return espeak;
}
