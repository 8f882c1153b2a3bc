/** Chooses the reader for a source. */
import { type TtsError, usageError } from '../kit/error.ts';
import { chained } from '../kit/wait.ts';
import { labelOf } from '../text/piece.ts';
import { inTurn, through } from '../text/stage.ts';
import { headOf, kindOfBytes, kindOfName } from './first-bytes.ts';
import { openPlain } from './plain.ts';
import type { InputKind, Reader, Reading, ReadOptions, Source } from './reading.ts';

interface ReaderRow {
  /** Which headings begin chapters, if they are wanted. `of all levels`: counted first if the text can be read again. */
  readonly hasHeadings?: 'of chapters' | 'of all levels';
  /** True for bytes that are not characters, so that words cannot be of this kind. */
  readonly isBinary?: true;
  readonly open: (source: Source, options: ReadOptions, signal: AbortSignal) => Promise<Reading>;
}

/** The table of readers. Document readers are loaded on first use. */
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
  epub: { isBinary: true, open: async (...text) => (await import('./epub.ts')).openEpub(...text) },
  docx: {
    hasHeadings: 'of all levels',
    isBinary: true,
    open: async (...text) => (await import('./docx.ts')).openDocx(...text),
  },
  fb2: {
    hasHeadings: 'of all levels',
    open: async (...text) => (await import('./fb2.ts')).openFb2(...text),
  },
  pdf: { isBinary: true, open: async (...text) => (await import('./pdf.ts')).openPdf(...text) },
  subtitles: { open: async (...text) => (await import('./cues.ts')).openCues(...text) },
};

/**
 * Returns the reader for a kind that is set, or else for the name's ending, or else for the first bytes. A file that is
 * named like text may still be of another kind.
 */
export function readerFor(name: string, set: InputKind | 'auto', options: ReadOptions): Reader {
  const kind = set === 'auto' ? (kindOfName(name) ?? 'text') : set;
  const open = set === 'auto' && kind === 'text' ? openByContent : openAs(kind);
  return (source, signal) => open(source, options, signal);
}

async function openByContent(source: Source, options: ReadOptions, signal: AbortSignal): Promise<Reading> {
  if (source.words !== undefined) return openAs('text')(source, options, signal);
  if (source.again) {
    const bytes = source.again(signal)[Symbol.asyncIterator]();
    const head = await headOf(bytes);
    // Otherwise the file would stay open.
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

/** Adds chapters from headings, if they are wanted. */
function openAs(kind: InputKind): ReaderRow['open'] {
  const { open, hasHeadings, isBinary } = READERS[kind];
  return async (source, options, signal) => {
    if (isBinary && source.words !== undefined)
      throw usageError(`--format ${kind} is for files, not for words`, 'name a file, or leave --format out');
    if (options.isTimed && kind !== 'subtitles') throw notTimed(source);
    if (!hasHeadings || !options.hasChapters) return open(source, options, signal);
    const [reading, { chapterLevelOf, HeadingChapters }] = await Promise.all([
      open(source, options, signal),
      import('../text/chapters.ts'),
    ]);
    const { live } = reading;
    const again = hasHeadings === 'of all levels' && source.again !== undefined;
    return {
      ...reading,
      async *pieces(until, how) {
        const level = again ? await chapterLevelOf(reading.pieces(until)) : undefined;
        yield* through(reading.pieces(until, how), new HeadingChapters(level));
      },
      ...(live && {
        live: (until, how) => {
          const { characters, stage } = live(until, how);
          return { characters, stage: inTurn(stage, new HeadingChapters()) };
        },
      }),
    };
  };
}

function notTimed({ name }: Source): TtsError {
  return usageError(
    `--fit needs the times of subtitles, and ${labelOf(name)} has none`,
    'give -f FILE with an SRT, WebVTT or ASS file, or leave --fit out',
  );
}
