import { type TtsError, usageError } from '../kit/error.ts';
import { chained } from '../kit/wait.ts';
import { labelOf, type Piece } from '../text/piece.ts';
import { inTurn, type Stage, through } from '../text/stage.ts';
import { headOf, kindOfBytes, kindOfName } from './first-bytes.ts';
import { openPlain } from './plain.ts';
import type { InputKind, Reader, Reading, ReadOptions, Source } from './reading.ts';

interface ReaderRow {
  /** Where chapters are wanted, headings begin them. Those of all levels are counted first where a text can be read again. */
  readonly hasHeadings?: 'of chapters' | 'of all levels';
  readonly open: (source: Source, options: ReadOptions, signal: AbortSignal) => Promise<Reading>;
}

/** The table of readers. Those of documents are loaded when they open their first source. */
const READERS: Readonly<Record<InputKind, ReaderRow>> = {
  text: { hasHeadings: 'of chapters', open: openPlain },
  markdown: {
    hasHeadings: 'of all levels',
    open: async (...text) => (await import('./markdown.ts')).openMarkdown(...text),
  },
  html: {
    hasHeadings: 'of all levels',
    open: async (...text) => (await import('./html.ts')).openHtml(...text),
  },
  epub: { open: async (...text) => (await import('./epub.ts')).openEpub(...text) },
  docx: {
    hasHeadings: 'of all levels',
    open: async (...text) => (await import('./docx.ts')).openDocx(...text),
  },
  fb2: {
    hasHeadings: 'of all levels',
    open: async (...text) => (await import('./fb2.ts')).openFb2(...text),
  },
  pdf: { open: async (...text) => (await import('./pdf.ts')).openPdf(...text) },
  subtitles: { open: async (...text) => (await import('./cues.ts')).openCues(...text) },
};

/**
 * Where neither a kind is set nor an ending tells it, the first bytes do; what begins like no other kind is text. What is called
 * a text may still be of another kind.
 */
export function readerFor(name: string, set: InputKind | 'auto', options: ReadOptions): Reader {
  const kind = set === 'auto' ? (kindOfName(name) ?? 'text') : set;
  const open = set === 'auto' && kind === 'text' ? openByContent : openAs(kind);
  return { kind, open: (source, signal) => open(source, options, signal) };
}

async function openByContent(source: Source, options: ReadOptions, signal: AbortSignal): Promise<Reading> {
  if (source.words !== undefined) return openAs('text')(source, options, signal);
  if (source.again) {
    const bytes = source.again(signal)[Symbol.asyncIterator]();
    const head = await headOf(bytes);
    // Otherwise the file stays open.
    await bytes.return?.();
    return openAs(kindOfBytes(head))(source, options, signal);
  }
  return {
    source,
    async *pieces(until, how) {
      const bytes = source.bytes(until)[Symbol.asyncIterator]();
      const head = await headOf(bytes);
      const all = chained(head.length > 0 ? [head] : [], bytes);
      const reading = await openAs(kindOfBytes(head))({ ...source, bytes: () => all }, options, until);
      yield* reading.pieces(until, how);
    },
  };
}

/** Gives pages and Markdown the chapters of their headings, and leaves the titles of chapters out. */
function openAs(kind: InputKind): ReaderRow['open'] {
  const { open, hasHeadings } = READERS[kind];
  return async (source, options, signal) => {
    const { hasChapters, speaksTitles, isTimed } = options;
    if (isTimed && kind !== 'subtitles') throw notTimed(source);
    const makesChapters = hasHeadings && hasChapters;
    if (!makesChapters && speaksTitles) return open(source, options, signal);
    const [reading, { chapterLevelOf, HeadingChapters, UntitledChapters }] = await Promise.all([
      open(source, options, signal),
      import('../text/chapters.ts'),
    ]);
    const again = hasHeadings === 'of all levels' && source.again !== undefined;
    const levelIn = (until: AbortSignal) => (again ? chapterLevelOf(reading.pieces(until)) : undefined);
    const divided = makesChapters
      ? withStage(reading, (level) => new HeadingChapters(level), levelIn)
      : reading;
    return speaksTitles ? divided : withStage(divided, () => new UntitledChapters());
  };
}

function notTimed({ name }: Source): TtsError {
  return usageError(
    `--fit needs the times of subtitles, and ${name === '' ? 'words have' : `${labelOf(name)} has`} none`,
    'give -f FILE with an SRT, WebVTT or ASS file, or leave --fit out',
  );
}

/** @param levelIn the lowest level of the chapters, where it can be known before */
function withStage(
  reading: Reading,
  made: (level?: number) => Stage<Piece, Piece>,
  levelIn: (signal: AbortSignal) => Promise<number | undefined> | undefined = () => undefined,
): Reading {
  const { live } = reading;
  return {
    ...reading,
    async *pieces(until, how) {
      yield* through(reading.pieces(until, how), made(await levelIn(until)));
    },
    ...(live && {
      live: (until, how) => {
        const { characters, stage } = live(until, how);
        return { characters, stage: inTurn(stage, made()) };
      },
    }),
  };
}
