/** The types of sources, readers and what they read. */
import type { ProgramHost } from '../kit/host.ts';
import type { Tags } from '../sound/pcm.ts';
import type { Piece } from '../text/piece.ts';
import type { Stage } from '../text/stage.ts';

/** The kinds of input for `--format`. `readers.ts` has a row for each. */
export const INPUT_KINDS = ['text', 'markdown', 'html', 'epub', 'docx', 'fb2', 'pdf', 'subtitles'] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

export interface Source {
  /** The name of a file, "-" for stdin, or empty for words; messages use it. */
  readonly name: string;
  /** Words from a command line or a table, which need no decoding. */
  readonly words?: string;
  /** The path of a file, for kinds that are not read sequentially. */
  readonly path?: string | undefined;
  /** The number of bytes; `undefined` for a pipe. */
  readonly size?: number | undefined;
  /** Returns the bytes. May be called once. */
  bytes(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Returns the same bytes again; `undefined` for a pipe, whose text may still be being written. */
  readonly again?: ((signal: AbortSignal) => AsyncIterable<Uint8Array>) | undefined;
}

/** What to read of a text. Each kind uses some of these options. */
export interface ReadOptions {
  /** Code blocks. Code within a sentence is always spoken. */
  readonly code: 'skip' | 'announce' | 'read';
  /** Whether formulas in TeX are read in words, or as the word "formula"; the default is "formula". */
  readonly math?: 'read' | 'skip' | undefined;
  /** Footnotes in Markdown. */
  readonly footnotes: 'read' | 'skip';
  /** True to read the notes of pages and books: at their reference if they are known by then, otherwise where they are. */
  readonly readsNotes: boolean;
  /** True to speak a short reading of a ruby, in kana, in place of its base. */
  readonly speaksReadings: boolean;
  /** True to read also title pages, contents and licences, and all of a web page. */
  readonly readsAll: boolean;
  /** True if form feeds and headings begin chapters. A book always has chapters. */
  readonly hasChapters: boolean;
  /** True if the sound must fit the times of subtitles. */
  readonly isTimed: boolean;
  /** True to speak also the sounds that subtitles describe. */
  readonly speaksSounds: boolean;
  /** Where to find the program that reads PDFs. */
  readonly host: ProgramHost;
}

export type PlainOptions = Pick<ReadOptions, 'readsAll' | 'hasChapters' | 'readsNotes'>;
export type MarkdownOptions = Pick<ReadOptions, 'code' | 'math' | 'footnotes'> &
  Partial<Pick<ReadOptions, 'hasChapters'>>;
export type HtmlOptions = Pick<ReadOptions, 'code' | 'math' | 'readsNotes' | 'speaksReadings' | 'readsAll'>;
export type CueOptions = Pick<ReadOptions, 'isTimed' | 'speaksSounds'>;

/** Metadata of a document. */
export interface About extends Omit<Tags, 'cover' | 'narrator' | 'album' | 'track'> {
  /** Reads the picture, whatever its format. */
  readonly cover?: (signal: AbortSignal) => Promise<Uint8Array | undefined>;
}

export interface PieceOptions {
  /** Removes marks from the characters before the reader sees them. */
  readonly filter?: Stage<string, string> | undefined;
  /** Called with remarks such as what was left out: sentences without a full stop. One may come several times. */
  readonly onRemark?: ((remark: string) => void) | undefined;
  /** Returns placeholders for the languages marked in a document, which are otherwise ignored. */
  readonly languageMark?: LanguageMark | undefined;
}

/** @returns the placeholder for a language; `isWhole` if it applies to the whole document */
export type LanguageMark = (language: string | undefined, isWhole: boolean) => string;

/** A text that is read as it is written: the cutter after it has to know how long the writer has paused. */
interface LiveText {
  readonly characters: AsyncIterable<string>;
  readonly stage: Stage<string, Piece>;
}

export interface BookFile {
  /** For messages. */
  readonly name: string;
  /** A path, or the descriptor of an open file. */
  readonly location: string | number;
}

/** A source that was opened and checked. */
export interface Reading {
  readonly source: Source;
  readonly about?: About | undefined;
  /** The archive that contains the text. */
  readonly book?: BookFile | undefined;
  /** Returns the pieces from the first one on. For a pipe, this may be called once. */
  pieces(signal: AbortSignal, options?: PieceOptions): AsyncIterable<Piece>;
  /** Present for kinds whose pieces would otherwise only come when the text is complete. */
  readonly live?: (signal: AbortSignal, options?: PieceOptions) => LiveText;
}

/**
 * Checks all of a source that can be read again. Waits for a pipe only if it holds a book, which is read from its end.
 * @throws TtsError (usage) for what cannot be read
 */
export type Reader = (source: Source, signal: AbortSignal) => Promise<Reading>;
