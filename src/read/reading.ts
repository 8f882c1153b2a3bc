import { extname } from 'node:path';
import type { Tags } from '../sound/pcm.ts';
import type { Piece } from '../text/piece.ts';
import { inTurn, type Stage, through } from '../text/stage.ts';
import { leastBytes } from './decode.ts';

/** The formats that `--format` can name. */
export const FORMATS = ['text', 'markdown', 'html', 'epub'] as const;

/** The table of endings, in lower case. What is called a text may still be another format by its first bytes. */
const ENDINGS: Readonly<Record<Reader['name'], readonly string[]>> = {
  text: ['.txt', '.text'],
  markdown: ['.md', '.markdown', '.mdown', '.mkdn', '.mkd', '.mdwn'],
  html: ['.html', '.htm', '.xhtml', '.xht'],
  epub: ['.epub'],
};

/** @returns the format that the ending of a name tells */
export function formatOfName(name: string): Reader['name'] | undefined {
  const ending = extname(name).toLowerCase();
  return FORMATS.find((format) => ENDINGS[format].includes(ending));
}

export interface Source {
  /** Messages use it: the name of a file, "-" for stdin, or an empty one for words. */
  readonly name: string;
  /** True while its writer may still be at work. */
  readonly isLive: boolean;
  /** Words of a command line or a table: they are characters from the start. */
  readonly words?: string;
  /** The path of a file, for formats that are not read from front to back. */
  readonly path?: string | undefined;
  /** Bytes that can be read again; `undefined` for a pipe. */
  readonly size: number | undefined;
  /** It can be read once. */
  bytes(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** The same bytes once more; `undefined` for a pipe. */
  readonly again: ((signal: AbortSignal) => AsyncIterable<Uint8Array>) | undefined;
}

export interface ReadingOptions {
  /** It lifts marks out of the characters, before the reader sees them. */
  readonly inFront?: Stage<string, string> | undefined;
  /** It is told what was left out, and the like: sentences without a full stop. */
  readonly onRemark?: ((remark: string) => void) | undefined;
}

/** What a document says of itself. */
export interface About extends Omit<Tags, 'cover' | 'narrator' | 'album' | 'track'> {
  /** Reads the picture, of whatever kind it is. */
  readonly cover?: (signal: AbortSignal) => Promise<Uint8Array | undefined>;
}

/** What is read in step with its writer: the segmenter after it has to know how long the writer waits. */
interface LiveText {
  readonly characters: AsyncIterable<string>;
  readonly stage: Stage<string, Piece>;
}

export interface Reading {
  readonly source: Source;
  readonly about?: About | undefined;
  /** They begin with the first one, as often as they are asked for; those of a pipe can be asked for once. */
  pieces(signal: AbortSignal, options?: ReadingOptions): AsyncIterable<Piece>;
  /** A format has it whose pieces would otherwise come when the text is whole. */
  readonly live?: (signal: AbortSignal, options?: ReadingOptions) => LiveText;
}

export interface Reader {
  readonly name: (typeof FORMATS)[number];
  /** True if a text of this format begins so. It is asked only where no name tells the format. */
  readonly begins?: (head: Uint8Array) => boolean;
  /**
   * Checks to its end what can be read again. It waits for no byte of a pipe, but for all of a book, which is read from its end.
   * @throws TtsError (usage) for what cannot be read
   */
  open(source: Source, signal: AbortSignal): Promise<Reading>;
}

/** Chooses the reader by the first bytes, for a source whose name does not tell its format. */
export function byContent(readers: readonly Reader[], otherwise: Reader): Reader {
  const readerFor = (head: Uint8Array) => readers.find(({ begins }) => begins?.(head)) ?? otherwise;
  return {
    ...otherwise,
    async open(source, signal) {
      if (source.words !== undefined) return otherwise.open(source, signal);
      if (source.again) {
        const bytes = source.again(signal)[Symbol.asyncIterator]();
        const head = await headOf(bytes);
        // Otherwise the file stays open.
        await bytes.return?.();
        return readerFor(head).open(source, signal);
      }
      return {
        source,
        async *pieces(until, options) {
          const bytes = source.bytes(until)[Symbol.asyncIterator]();
          const head = await headOf(bytes);
          const all = goingOn(head, bytes);
          const reading = await readerFor(head).open({ ...source, bytes: () => all }, until);
          yield* reading.pieces(until, options);
        },
      };
    },
  };
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

interface Chapters {
  /** A book has chapters in any case. */
  readonly areWanted: boolean;
  readonly areTitlesSpoken: boolean;
}

/** Gives Markdown and HTML the chapters of their headings, and leaves the titles of chapters out. */
export function withChapters(reader: Reader, { areWanted, areTitlesSpoken }: Chapters): Reader {
  if (areTitlesSpoken && (reader.name === 'epub' || !areWanted)) return reader;
  return {
    ...reader,
    async open(source, signal) {
      const [reading, stages] = await Promise.all([
        reader.open(source, signal),
        stagesFor(reader.name, areTitlesSpoken),
      ]);
      const pieces: typeof reading.pieces = (until, how) =>
        stages.reduce<AsyncIterable<Piece>>(
          (before, make) => through(before, make()),
          reading.pieces(until, how),
        );
      const { live } = reading;
      if (!live) return { ...reading, pieces };
      const stagedLive: typeof live = (until, how) => {
        const { characters, stage } = live(until, how);
        return { characters, stage: stages.reduce((before, make) => inTurn(before, make()), stage) };
      };
      return { ...reading, pieces, live: stagedLive };
    },
  };
}

async function stagesFor(
  format: Reader['name'],
  areTitlesSpoken: boolean,
): Promise<readonly (() => Stage<Piece, Piece>)[]> {
  const [{ HeadingChapters }, { UntitledChapters }] = await Promise.all([
    import('../text/chapters.ts'),
    import('../text/chapters.ts'),
  ]);
  const stages: (() => Stage<Piece, Piece>)[] = [];
  if (format === 'markdown' || format === 'html') stages.push(() => new HeadingChapters());
  if (!areTitlesSpoken) stages.push(() => new UntitledChapters());
  return stages;
}
