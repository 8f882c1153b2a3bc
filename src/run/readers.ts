import type { Readable } from 'node:stream';
import { usageError } from '../kit/error.ts';
import type { Host, ProgramHost, RunContext } from '../kit/host.ts';
import { namedFile, type Settings, singleNames } from '../options/load.ts';
import { decode } from '../read/decode.ts';
import { readerFor } from '../read/readers.ts';
import type { Reader } from '../read/reading.ts';
import { fileSource, openFile, readWhole, stdinSource, wordsSource } from '../read/source.ts';
import { holdsChapters } from '../sound/encode/encodings.ts';
import { UntitledChapters } from '../text/chapters.ts';
import type { Lexicon } from '../text/lexicon.ts';
import type { TextPlan, TextSource } from './text.ts';

/** Words, or else the names of files; "-" is stdin. */
export interface Input {
  readonly words: readonly string[];
  readonly files: readonly string[];
}

/** Chapters cut requests, so a text that is not a book has chapters only if the user asks for them. */
function wantsChapters({ chapters, split, titles, pauses, output, encode }: Settings): boolean {
  const isAsked = (chapters ?? split) !== undefined || !titles.value || pauses?.value.has('chapter');
  return isAsked || holdsChapters(output?.value ?? '', encode?.value);
}

export function readerOf(name: string, settings: Settings, host: ProgramHost): Reader {
  const { format, code, math, footnotes, ruby, all, fit, sounds } = settings;
  return readerFor(name, format.value, {
    code: code.value,
    math: math.value,
    footnotes: footnotes.value,
    // A book has many notes in the middle of sentences: they are read only if the user asks for them.
    readsNotes: footnotes.value === 'read' && footnotes.origin.place !== 'default',
    speaksReadings: ruby.value === 'reading',
    readsAll: all.value,
    hasChapters: wantsChapters(settings),
    isTimed: fit !== undefined,
    speaksSounds: sounds.value === 'read',
    host,
  });
}

/** @throws TtsError (usage) for a file that is not there */
export function sourcesOf(
  { words, files }: Input,
  settings: Settings,
  { cwd, stdin, env, platform }: Pick<Host, 'cwd' | 'stdin' | 'env' | 'platform'>,
  echoed?: Readable,
): readonly TextSource[] {
  const { inputTimeout } = settings;
  const timeoutMs = inputTimeout && inputTimeout.value * 1000;
  const open = (name: string) =>
    name === '-' ? stdinSource(echoed ?? stdin.stream, timeoutMs) : fileSource(name, cwd, timeoutMs);
  const reader = (name: string) => readerOf(name, settings, { env, platform });
  if (words.length > 0) return [{ source: wordsSource(words.join(' ')), reader: reader('') }];
  return files.map((name) => ({ source: open(name), reader: reader(name) }));
}

/** @returns a stage before the reader that removes thoughts and tool calls from a model's answer */
export async function answerFilterOf({ assistant, beginsThinking }: Settings): Promise<TextPlan['filter']> {
  if (!assistant.value) return undefined;
  const { Unspoken } = await import('../read/assistant.ts');
  return (how) => new Unspoken({ ...how, beginsInThought: beginsThinking.value });
}

/** UTF-16 units. */
const LONGEST_LEXICON = 4 * 1024 * 1024;

/**
 * Returns the stages behind the reader, and reads the lexicons. Their code is loaded only if there are any.
 * @throws TtsError (usage) for a lexicon that cannot be read
 */
export async function stagesOf(
  { lexicon, titles }: Settings,
  { host, signal }: RunContext,
): Promise<Pick<TextPlan, 'stages'> & Pick<Lexicon, 'lines'>> {
  const untitled = titles.value ? [] : [() => new UntitledChapters()];
  if (!lexicon) return { stages: untitled, lines: [] };
  const { readLexicons, Replacing } = await import('../text/lexicon.ts');
  const files: Parameters<typeof readLexicons>[0][number][] = [];
  for (const named of singleNames(lexicon)) {
    const { value: name } = named;
    const bytes = openFile(namedFile(named, host, '--lexicon'), host.cwd, signal);
    const text = decode(bytes, name, '');
    const source = await readWhole(text, LONGEST_LEXICON, () =>
      usageError(
        `${name} is longer than ${LONGEST_LEXICON} characters`,
        'keep the words that this text needs',
      ),
    );
    files.push({ source, name, isOfProject: named.origin.place === 'project' });
  }
  const rules = readLexicons(files);
  return { stages: [...untitled, () => new Replacing(rules)], lines: rules.lines };
}
