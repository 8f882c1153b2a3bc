import { extname } from 'node:path';
import type { Tags } from '../audio/pcm.ts';
import type { LiveStage, Stage } from '../text/live.ts';
import type { Piece } from '../text/piece.ts';

/** The formats that `--format` can name. */
export const FORMATS = ['text', 'markdown', 'html', 'epub'] as const;

/** The table of endings, in lower case. What is called a text may still be another format by its first bytes. */
export const ENDINGS: Readonly<Record<Reader['name'], readonly string[]>> = {
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
  readonly stage: LiveStage<string, Piece>;
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
