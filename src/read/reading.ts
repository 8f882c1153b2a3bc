import type { Host } from '../kit/host.ts';
import type { Tags } from '../sound/pcm.ts';
import type { Piece } from '../text/piece.ts';
import type { Stage } from '../text/stage.ts';

/** The kinds of input that `--format` can name. `readers.ts` has a row for each. */
export const INPUT_KINDS = ['text', 'markdown', 'html', 'epub', 'docx', 'fb2', 'pdf', 'subtitles'] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

export interface Source {
  /** Messages use it: the name of a file, "-" for stdin, or an empty one for words. */
  readonly name: string;
  /** True while its writer may still be at work. */
  readonly isLive: boolean;
  /** Words of a command line or a table: they are characters from the start. */
  readonly words?: string;
  /** The path of a file, for kinds that are not read from front to back. */
  readonly path?: string | undefined;
  /** Bytes that can be read again; `undefined` for a pipe. */
  readonly size: number | undefined;
  /** It can be read once. */
  bytes(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** The same bytes once more; `undefined` for a pipe. */
  readonly again: ((signal: AbortSignal) => AsyncIterable<Uint8Array>) | undefined;
}

/** What is read of a text. Each kind looks at its part. */
export interface ReadOptions {
  /** Blocks of code. Code in a sentence is always spoken. */
  readonly code: 'skip' | 'announce' | 'read';
  /** Formulas in Markdown are their plain words, or the word "formula", as if nothing is said. */
  readonly math?: 'read' | 'skip' | undefined;
  /** Footnotes of Markdown. */
  readonly footnotes: 'read' | 'skip';
  /** Notes of pages and books are read where they are referred to, if they are known there, and otherwise where they stand. */
  readonly readsNotes: boolean;
  /** A short reading of a ruby, in kana, is spoken in place of its base. */
  readonly speaksReadings: boolean;
  /** Title pages, contents and licences are read, too, and all of a page. */
  readonly readsAll: boolean;
  /** Form feeds and headings begin chapters. A book has chapters in any case. */
  readonly hasChapters: boolean;
  readonly speaksTitles: boolean;
  /** The sound is to fit the times of subtitles. */
  readonly isTimed: boolean;
  /** Sounds that subtitles describe are spoken, too. */
  readonly speaksSounds: boolean;
  /** Where the program is found that reads a PDF; without it none is started. */
  readonly host?: Pick<Host, 'env' | 'platform'> | undefined;
}

export type PlainOptions = Pick<ReadOptions, 'readsAll' | 'hasChapters'>;
export type MarkdownOptions = Pick<ReadOptions, 'code' | 'math' | 'footnotes'> &
  Partial<Pick<ReadOptions, 'hasChapters'>>;
export type HtmlOptions = Pick<ReadOptions, 'code' | 'readsNotes' | 'speaksReadings' | 'readsAll'>;
export type CueOptions = Pick<ReadOptions, 'isTimed' | 'speaksSounds'>;

/** What a document says of itself. */
export interface About extends Omit<Tags, 'cover' | 'narrator' | 'album' | 'track'> {
  /** Reads the picture, of whatever kind it is. */
  readonly cover?: (signal: AbortSignal) => Promise<Uint8Array | undefined>;
}

export interface PieceOptions {
  /** It lifts marks out of the characters, before the reader sees them. */
  readonly inFront?: Stage<string, string> | undefined;
  /** Called with what was left out and the like: sentences without a full stop. */
  readonly onRemark?: ((remark: string) => void) | undefined;
  /** Languages that the document marks become these placeholders; otherwise they are left out. */
  readonly languageMark?: LanguageMark | undefined;
}

/** @returns the placeholder of a language; `isWhole` where it is said of the whole document */
export type LanguageMark = (language: string | undefined, isWhole: boolean) => string;

/** What is read in step with its writer: the cutter after it has to know how long the writer waits. */
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
  /** The archive that the text is from. */
  readonly book?: BookFile | undefined;
  /** They begin with the first one, as often as they are asked for; those of a pipe can be asked for once. */
  pieces(signal: AbortSignal, options?: PieceOptions): AsyncIterable<Piece>;
  /** A kind has it whose pieces would otherwise come when the text is whole. */
  readonly live?: (signal: AbortSignal, options?: PieceOptions) => LiveText;
}

export interface Reader {
  /** What a text is, unless its first bytes tell another kind. */
  readonly kind: InputKind;
  /**
   * Checks to its end what can be read again. It waits for no byte of a pipe, but for all of a book, which is read from its end.
   * @throws TtsError (usage) for what cannot be read
   */
  open(source: Source, signal: AbortSignal): Promise<Reading>;
}

/** What the readers of a run give out; characters are still to be read, in step with their writer. */
export type Item =
  | Piece
  | { readonly kind: 'characters'; readonly text: string; readonly stage: Stage<string, Piece> }
  | { readonly kind: 'end' };

/** Reads characters, and takes the name of the only text out of its pieces. */
export class ItemStage implements Stage<Item, Piece> {
  readonly #isOnly: boolean;
  #stage: Stage<string, Piece> | undefined;

  constructor(isOnly: boolean) {
    this.#isOnly = isOnly;
  }

  get isHolding(): boolean {
    return this.#stage?.isHolding ?? false;
  }

  *push(item: Item): Generator<Piece> {
    if (item.kind === 'characters') {
      this.#stage = item.stage;
      yield* this.#placed(item.stage.push(item.text));
    } else if (item.kind === 'end') {
      yield* this.#placed(this.#stage?.end() ?? []);
      this.#stage = undefined;
    } else yield* this.#placed([item]);
  }

  *flush(idle: number): Generator<Piece> {
    yield* this.#placed(this.#stage?.flush?.(idle) ?? []);
  }

  end(): readonly Piece[] {
    return [];
  }

  *#placed(pieces: Iterable<Piece>): Generator<Piece> {
    for (const piece of pieces)
      yield this.#isOnly && piece.kind === 'text'
        ? { ...piece, place: { ...piece.place, source: '' } }
        : piece;
  }
}
