import { extname } from 'node:path';
import { type TtsError, usageError } from '../kit/error.ts';
import { labelOf, type Piece } from '../text/piece.ts';
import { inTurn, type Stage, through } from '../text/stage.ts';
import { beginsLikeHtml, beginsLikeSubtitles, isEpub, leastBytes } from './first-bytes.ts';
import { openPlain } from './plain.ts';
import {
  INPUT_KINDS,
  type InputKind,
  type Reader,
  type Reading,
  type ReadOptions,
  type Source,
} from './reading.ts';

/** One kind of input. */
interface ReaderRow {
  /** Endings of names, in lower case. */
  readonly endings: readonly string[];
  /** True if a text of this kind begins so. It is asked only where no name tells the kind. */
  readonly begins?: (head: Uint8Array) => boolean;
  /** Where chapters are wanted, headings begin them. */
  readonly hasHeadings?: true;
  readonly open: (source: Source, options: ReadOptions, signal: AbortSignal) => Promise<Reading>;
}

/** The table of readers. Those of documents are loaded when they open their first source. */
const READERS: Readonly<Record<InputKind, ReaderRow>> = {
  text: {
    endings: ['.txt', '.text'],
    open: openPlain,
  },
  markdown: {
    endings: ['.md', '.markdown', '.mdown', '.mkdn', '.mkd', '.mdwn'],
    hasHeadings: true,
    open: async (...text) => (await import('./markdown.ts')).openMarkdown(...text),
  },
  html: {
    endings: ['.html', '.htm', '.xhtml', '.xht'],
    begins: beginsLikeHtml,
    hasHeadings: true,
    open: async (...text) => (await import('./html.ts')).openHtml(...text),
  },
  epub: {
    endings: ['.epub'],
    begins: isEpub,
    open: async (...text) => (await import('./epub.ts')).openEpub(...text),
  },
  subtitles: {
    endings: ['.srt', '.vtt', '.ass', '.ssa'],
    begins: beginsLikeSubtitles,
    open: async (...text) => (await import('./cues.ts')).openCues(...text),
  },
};

/** @returns the kind that the ending of a name tells */
export function kindOfName(name: string): InputKind | undefined {
  const ending = extname(name).toLowerCase();
  return INPUT_KINDS.find((kind) => READERS[kind].endings.includes(ending));
}

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
    return openAs(kindOf(head))(source, options, signal);
  }
  return {
    source,
    async *pieces(until, how) {
      const bytes = source.bytes(until)[Symbol.asyncIterator]();
      const head = await headOf(bytes);
      const all = goingOn(head, bytes);
      const reading = await openAs(kindOf(head))({ ...source, bytes: () => all }, options, until);
      yield* reading.pieces(until, how);
    },
  };
}

function kindOf(head: Uint8Array): InputKind {
  return INPUT_KINDS.find((kind) => READERS[kind].begins?.(head)) ?? 'text';
}

async function headOf(bytes: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array();
  while (head.length < leastBytes(head)) {
    const { done, value } = await bytes.next();
    if (done) break;
    head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  return head;
}

async function* goingOn(head: Uint8Array, bytes: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head;
    for (let next = await bytes.next(); !next.done; next = await bytes.next()) yield next.value;
  } finally {
    await bytes.return?.();
  }
}

/** Gives pages and Markdown the chapters of their headings, and leaves the titles of chapters out. */
function openAs(kind: InputKind): ReaderRow['open'] {
  const { open, hasHeadings } = READERS[kind];
  return async (source, options, signal) => {
    const { hasChapters, speaksTitles, isTimed } = options;
    if (isTimed && kind !== 'subtitles') throw notTimed(source);
    const makesChapters = hasHeadings && hasChapters;
    if (!makesChapters && speaksTitles) return open(source, options, signal);
    const [reading, { HeadingChapters, UntitledChapters }] = await Promise.all([
      open(source, options, signal),
      import('../text/chapters.ts'),
    ]);
    const makers = [makesChapters ? HeadingChapters : [], speaksTitles ? [] : UntitledChapters].flat();
    return makers.reduce(withStage, reading);
  };
}

function notTimed({ name }: Source): TtsError {
  return usageError(
    `--fit needs the times of subtitles, and ${name === '' ? 'words have' : `${labelOf(name)} has`} none`,
    'give -f FILE with an SRT, WebVTT or ASS file, or leave --fit out',
  );
}

function withStage(reading: Reading, Made: new () => Stage<Piece, Piece>): Reading {
  const { live } = reading;
  return {
    ...reading,
    pieces: (until, how) => through(reading.pieces(until, how), new Made()),
    ...(live && {
      live: (until, how) => {
        const { characters, stage } = live(until, how);
        return { characters, stage: inTurn(stage, new Made()) };
      },
    }),
  };
}
