/** The voices of an installed espeak-ng, spoken by its command-line program. */
import { availableParallelism } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { findProgram } from '../kit/folders.ts';
import type { ProgramHost, RunContext } from '../kit/host.ts';
import { outputOf, ProgramError } from '../kit/program.ts';
import { singleItem } from '../kit/wait.ts';
import { inOneLine } from '../kit/words.ts';
import { loadResampler, type MakeResampler } from '../sound/convert.ts';
import type { Samples } from '../sound/samples.ts';
import { readWav } from '../sound/wav.ts';
import { type Engine, EngineError, type EngineVoice, OWN_RATE, type Style } from './engine.ts';
import { type Finish, finish } from './finish.ts';
import { FairQueue, queuedEngine, type TaskRunner } from './queued-engine.ts';

interface EspeakVoice extends EngineVoice {
  /** The path of the voice below espeak-ng's folder of voices, which is unique. */
  readonly file: string;
}

export interface Espeak {
  /** The absolute path of the program. */
  readonly program: string;
  readonly voices: readonly EspeakVoice[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The number of the first voice in the list of speakers. */
const FIRST_NUMBER = 101;

/** Milliseconds after which listing the voices is given up. */
const LIST_TIMEOUT_MS = 10_000;

/** `Pty Language Age/Gender VoiceName File OtherLanguages` of `espeak-ng --voices`, the last as in `(fr 5)(fr-fr 5)`. */
const VOICE_LINE = /^\s*\d+\s+(?<language>\S+)\s+\S+\s+(?<name>\S+)\s+(?<file>\S+)(?<others>.*)/u;

/**
 * Lists the voices, numbered from 101 in the order of language tag and name.
 * @throws if the program cannot be run
 */
export async function listEspeakVoices(
  program: string,
  env: Espeak['env'],
  signal: AbortSignal,
): Promise<EspeakVoice[]> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(LIST_TIMEOUT_MS)]);
  const listed = await outputOf(program, ['--voices'], { env, signal: until });
  const voices = listed
    .toString()
    .split('\n')
    .flatMap((line) => {
      const columns = VOICE_LINE.exec(line)?.groups;
      return columns ? [columns] : [];
    });
  const ordered = voices
    .map(({ language = '', name = '', file = '', others = '' }) => ({
      language,
      name: displayName(name),
      file,
      alsoSpeaks: otherTags(language, others),
    }))
    .sort((a, b) => compare(a.language, b.language) || compare(a.name, b.name) || compare(a.file, b.file));
  return ordered.map((voice, index) => ({ no: FIRST_NUMBER + index, kind: 'neo.one', ...voice }));
}

/** Other tags of a voice: `es-mx` for `es-419`, `no` for `nb`. `fr` is left out for `fr-be`, since it is obvious. */
function otherTags(language: string, others: string): string[] | undefined {
  const [base = ''] = language.split('-');
  const all = Array.from(others.matchAll(/\((\S+) \d+\)/g), ([, tag = '']) => tag.toLowerCase());
  const tags = all.filter((tag) => tag !== base);
  return tags.length > 0 ? tags : undefined;
}

/** Compares by code units, so that the order is the same in every locale. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function displayName(name: string): string {
  return name.replaceAll('_', ' ').trim();
}

interface Search {
  /** Missing if the program is not installed, or does not work. */
  readonly espeak?: Espeak;
  /** Why an installed program does not work. */
  readonly fault?: string;
}

export async function findEspeak({
  host,
  signal,
}: Pick<RunContext, 'signal'> & { readonly host: ProgramHost }): Promise<Search> {
  const program = await findProgram('espeak-ng', host);
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

interface EspeakTask {
  readonly text: string;
  readonly voice: string;
  readonly style: Style;
  readonly finish: Finish;
}

/** UTF-8 on stdin, a WAV on stdout, and no pause at the end of the text. */
export const PIPED = ['-b', '1', '-z', '--stdin', '--stdout'];

/** Words per minute. */
const SPEED = { normal: 175, least: 80, most: 450 };

/** The pitch, on espeak-ng's own scale of 0 to 99. */
const PITCH = { normal: 50, least: 0, most: 99 };

/** Runs one process per passage. The text goes to stdin, never into the arguments. */
class EspeakProcess implements TaskRunner<EspeakTask> {
  readonly ready = true;
  readonly #espeak: Pick<Espeak, 'program' | 'env'>;
  readonly #resampler: MakeResampler;

  constructor(espeak: Pick<Espeak, 'program' | 'env'>, resampler: MakeResampler) {
    this.#espeak = espeak;
    this.#resampler = resampler;
  }

  async run(task: EspeakTask, signal: AbortSignal): Promise<Int16Array> {
    try {
      const speech = await this.#speak(task, signal);
      return isSilent(speech) ? speech.samples.subarray(0, 0) : finish(speech, task.finish, this.#resampler);
    } catch (error) {
      signal.throwIfAborted();
      throw new EngineError('broken', `espeak-ng failed: ${(error as Error).message}`);
    }
  }

  async close(): Promise<void> {}

  async #speak({ text, voice, style }: EspeakTask, signal: AbortSignal): Promise<Samples> {
    const how = ['-v', voice, '-s', scaled(SPEED, style.rate), '-p', scaled(PITCH, style.pitch), ...PIPED];
    const { program, env } = this.#espeak;
    return samplesIn(await outputOf(program, how, { env, signal, input: text }));
  }
}

function scaled({ normal, least, most }: typeof SPEED, factor: number): string {
  return String(Math.max(least, Math.min(most, Math.round(normal * factor))));
}

/** True for digital silence, which espeak-ng sends for a text of dots and dashes. */
function isSilent({ samples }: Samples): boolean {
  return samples.every((sample) => sample === 0);
}

/** Reads a WAV of espeak-ng, which is empty if there is nothing to say. */
export async function samplesIn(wav: Uint8Array): Promise<Samples> {
  if (wav.length === 0) return { samples: new Int16Array(), sampleRate: OWN_RATE };
  const { format, pcm } = await readWav(singleItem(wav));
  const bytes = Uint8Array.from(await buffer(pcm));
  return { samples: new Int16Array(bytes.buffer), sampleRate: format.sampleRate };
}

/** @param workers the number of processes that may run at once */
export async function openEspeak(
  { program, voices, env }: Espeak,
  workers = availableParallelism(),
): Promise<Engine> {
  const resampler = await loadResampler();
  const runners = Array.from({ length: workers }, () => new EspeakProcess({ program, env }, resampler));
  const files = new Map(voices.map(({ no, file }) => [no, file]));
  return queuedEngine(new FairQueue<EspeakTask>(runners), ({ no, style }) => ({
    normalise: withoutPhonemes,
    task: (text, finish) => ({ text, voice: files.get(no) ?? '', style, finish }),
    complaint: 'There is nothing in this text that could be read',
  }));
}

/** Replaces what espeak-ng would not read as text: `[[ ]]` encloses phonemes, and NUL ends the text. */
export function withoutPhonemes(sentence: string): string {
  return sentence
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\[(?=\[)/gu, '[ ')
    .trim();
}
