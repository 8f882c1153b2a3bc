import type { Readable } from 'node:stream';
import { usageError } from '../kit/error.ts';
import type { Host, RunContext } from '../kit/host.ts';
import { namedFile, type Settings, singleNames } from '../options/load.ts';
import { beginsLikeHtml, decodeAnyName, isEpub } from '../read/decode.ts';
import { plainReader } from '../read/plain.ts';
import { byContent, FORMATS, formatOfName, type Reader, withChapters } from '../read/reading.ts';
import { fileSource, openFile, readWhole, stdinSource, wordsSource } from '../read/source.ts';
import { holdsChapters } from '../sound/encode/encodings.ts';
import type { Lexicon } from '../text/lexicon.ts';
import type { TextPlan, TextSource } from './text.ts';

/** Words, or else the names of files; "-" is stdin. */
export interface Input {
  readonly words: readonly string[];
  readonly files: readonly string[];
}

type ReaderSettings = Pick<
  Settings,
  | 'code'
  | 'math'
  | 'footnotes'
  | 'ruby'
  | 'all'
  | 'chapters'
  | 'split'
  | 'titles'
  | 'pauses'
  | 'output'
  | 'encode'
>;

type Row = Omit<Reader, 'name'>;

/** The table of readers. Those of documents are loaded when they open their first source. */
const READERS: Readonly<Record<Reader['name'], (settings: ReaderSettings) => Row>> = {
  text,
  markdown,
  html,
  epub,
};

function text(settings: ReaderSettings): Row {
  const how = { all: settings.all.value, hasPageChapters: wantsChapters(settings) };
  return plainReader(how);
}

function markdown({ code, math, footnotes }: ReaderSettings): Row {
  return {
    async open(source, signal) {
      const { openMarkdown } = await import('../read/markdown.ts');
      return openMarkdown(source, { code: code.value, math: math.value, footnotes: footnotes.value }, signal);
    },
  };
}

function html(settings: ReaderSettings): Row {
  return {
    begins: beginsLikeHtml,
    async open(source, signal) {
      const { openHtml } = await import('../read/html.ts');
      return openHtml(source, bookOptions(settings), signal);
    },
  };
}

function epub(settings: ReaderSettings): Row {
  return {
    begins: isEpub,
    async open(source, signal) {
      const { openEpub } = await import('../read/epub.ts');
      return openEpub(source, { ...bookOptions(settings), readsAll: settings.all.value }, signal);
    },
  };
}

/** Notes of a book are many, and stand inside its sentences: they are read only where somebody asks for it. */
function bookOptions({ footnotes, ruby }: ReaderSettings) {
  return {
    speaksReadings: ruby.value === 'reading',
    readsNotes: footnotes.value === 'read' && footnotes.origin.place !== 'default',
  };
}

/** Chapters end requests, so a text that is not a book has them only where somebody asks for them. */
function wantsChapters({ chapters, split, titles, pauses, output, encode }: ReaderSettings): boolean {
  const isAsked = (chapters ?? split) !== undefined || !titles.value || pauses?.value.has('chapter');
  return isAsked || holdsChapters(output?.value ?? '', encode?.value);
}

/** Where neither a format is set nor an ending tells it, the first bytes do; what begins like no other format is text. */
export function readerOf(
  name: string,
  { format, ...settings }: ReaderSettings & Pick<Settings, 'format'>,
): Reader {
  const how = { areWanted: wantsChapters(settings), areTitlesSpoken: settings.titles.value };
  const make = (name: Reader['name']) => withChapters({ name, ...READERS[name](settings) }, how);
  if (format.value !== 'auto') return make(format.value);
  const byName = formatOfName(name);
  return byName === undefined || byName === 'text'
    ? byContent(FORMATS.map(make), make('text'))
    : make(byName);
}

/** @throws TtsError (usage) for a file that is not there */
export function sourcesOf(
  { words, files }: Input,
  settings: Settings,
  { cwd, stdin }: Pick<Host, 'cwd' | 'stdin'>,
  echoed?: Readable,
): readonly TextSource[] {
  const { inputTimeout } = settings;
  const timeoutMs = inputTimeout && inputTimeout.value * 1000;
  const open = (name: string) =>
    name === '-' ? stdinSource(echoed ?? stdin.stream, timeoutMs) : fileSource(name, cwd, timeoutMs);
  if (words.length > 0) return [{ source: wordsSource(words.join(' ')), reader: readerOf('', settings) }];
  return files.map((name) => ({ source: open(name), reader: readerOf(name, settings) }));
}

/** UTF-16 units. */
const LONGEST_LEXICON = 4 * 1024 * 1024;

interface Replacements {
  /** They stand between the readers and the segmenter. */
  readonly stages: TextPlan['stages'];
  readonly lines: Lexicon['lines'];
}

/**
 * The lexicon is loaded only if there is one.
 * @throws TtsError (usage) for a lexicon that cannot be read
 */
export async function replacementsOf(
  { lexicon }: Settings,
  { host, signal }: RunContext,
): Promise<Replacements> {
  if (!lexicon) return { stages: [], lines: [] };
  const { readLexicons, Replacing } = await import('../text/lexicon.ts');
  const files: Parameters<typeof readLexicons>[0][number][] = [];
  for (const named of singleNames(lexicon)) {
    const { value: name } = named;
    const text = decodeAnyName(openFile(namedFile(named, host, '--lexicon'), host.cwd, signal), name);
    const source = await readWhole(text, LONGEST_LEXICON, () =>
      usageError(
        `${name} is longer than ${LONGEST_LEXICON} characters`,
        'keep the words that this text needs',
      ),
    );
    files.push({ source, name, isOfProject: named.origin.place === 'project' });
  }
  const rules = readLexicons(files);
  return { stages: [() => new Replacing(rules)], lines: rules.lines };
}
