/** Leaves out of Project Gutenberg's books the header and licence, the transcriber's notes and the table of contents. */
import type { Piece } from '../text/piece.ts';
import { inTurn, type Stage } from '../text/stage.ts';
import { MarkupText, PieceBuffer, type PlainBookOptions, PlainText } from './gutenberg-text.ts';
import type { Attributes } from './html-elements.ts';

const LICENCE_REMARK = 'the header and the licence of Project Gutenberg are left out; --all reads them';

const OPENINGS = [
  'The Project Gutenberg',
  'Project Gutenberg',
  '*** START OF THE PROJECT GUTENBERG',
  '***The Project Gutenberg',
  // Openings of the 1990s.
  '**The Project Gutenberg',
  '***This is the Project Gutenberg',
  'Please take a look at the important information in this header.',
];
const START =
  /^[^\S\n\r\u2028\u2029]*(?:\*\*\* ?START OF TH(?:E|IS) PROJECT GUTENBERG[^*]{0,400}\*\*\*\.?|\*END\*?\s?THE SMALL PRINT[^\n]*)[^\S\n]*\n/imu;
const CREDITS = /^\s*(?:E-?text )?(?:produced|prepared) by [^\n]*(?:\n[^\S\n]*\S[^\n]*)*/iu;
const END =
  /^[^\S\n\r\u2028\u2029]*(?:\*\*\* ?END OF TH(?:E|IS) PROJECT GUTENBERG|End of (?:the |this )?Project Gutenberg)/imu;
/** A last line that may become an end marker. */
const MAYBE_END = /(?<=^|\n)[^\S\n]*(?:\*{1,3}[^\n]{0,30}|End?(?: [^\n]{0,30})?)$/u;

/** UTF-16 units within which a text says what it is. */
const LONGEST_OPENING = 200;
/** UTF-16 units. A longer header is text. */
const LONGEST_HEADER = 65_536;

/** Recognises the parts of a plain-text book by its lines, and makes chapters if they are wanted. */
export function plainBook(
  onRemark: (remark: string) => void,
  options: PlainBookOptions,
): Stage<Piece, Piece> {
  const licence = new Licence(onRemark);
  return inTurn(licence, new PlainText(licence, onRemark, options));
}

/** Handles pages and EPUBs, whose elements show the header and the licence. */
export interface MarkupBook extends Stage<Piece, Piece> {
  /**
   * @returns true for an element with the header or the licence, which also proves that the book is from Project Gutenberg
   */
  leavesOut(attributes: Attributes): boolean;
}

export function markupBook(onRemark: (remark: string) => void): MarkupBook {
  const licence = new Licence(onRemark);
  return Object.assign(inTurn(licence, new MarkupText(licence, onRemark)), {
    leavesOut({ id, class: classes }: Attributes) {
      const isAround =
        id === 'pg-header' || id === 'pg-footer' || (classes !== undefined && BOILERPLATE.test(classes));
      if (isAround) licence.find();
      return isAround;
    },
  });
}

/** Classes that gutenbergtools/ebookmaker puts around each book. */
const BOILERPLATE = /(?:^|\s)pg-?boilerplate(?:\s|$)/u;

/** Leaves out the header and the licence of plain text by its lines. */
class Licence implements Stage<Piece, Piece> {
  /** True once the book is known to be from Project Gutenberg. */
  isFound = false;
  readonly #onRemark: (remark: string) => void;
  readonly #held = new PieceBuffer();
  #state: 'beginning' | 'header' | 'book' | 'other' | 'over' = 'beginning';
  #isBegun = false;
  #isInHeading = false;

  constructor(onRemark: (remark: string) => void) {
    this.#onRemark = onRemark;
  }

  find(): void {
    this.isFound = true;
    this.#onRemark(LICENCE_REMARK);
  }

  *push(piece: Piece): Generator<Piece> {
    if (this.#state === 'over') return;
    if (this.#state === 'other' && this.isFound) this.#state = 'book';
    if (this.#state === 'other') return yield piece;
    this.#held.add(piece);
    yield* this.#read(false);
  }

  *end(): Generator<Piece> {
    yield* this.#read(true);
  }

  *#read(isEnd: boolean): Generator<Piece> {
    const held = this.#held;
    if (this.#state === 'beginning') this.#state = this.isFound ? 'header' : beginningOf(held.text, isEnd);
    if (this.#state === 'header') this.#state = stateOfHeader(held.text, isEnd, this.isFound);
    if (this.#state === 'other') yield* held.all();
    if (this.#state !== 'book') return;
    if (!this.#isBegun) yield* this.#dropHeader();
    const end = held.text.search(END);
    const length = end >= 0 ? end : isEnd ? held.text.length : withoutMaybeEnd(held.text);
    for (const piece of held.take(length)) {
      if (piece.kind === 'heading') this.#isInHeading = !this.#isInHeading;
      yield piece;
    }
    if (end < 0) return;
    this.#state = 'over';
    if (this.#isInHeading) yield { kind: 'heading', level: 1 };
  }

  /** Drops the header, but keeps the chapters and voices that begin in it. */
  *#dropHeader(): Generator<Piece> {
    this.#isBegun = true;
    this.find();
    const length = headerLength(this.#held.text);
    if (length === 0) return;
    let isInHeading = false;
    for (const piece of this.#held.take(length)) {
      if (piece.kind === 'chapter' || piece.kind === 'voice') yield piece;
      if (piece.kind === 'heading') isInHeading = !isInHeading;
    }
    this.#held.dropBorders(isInHeading);
  }
}

/** Returns the UTF-16 units before a possible end marker. */
function withoutMaybeEnd(text: string): number {
  return text.length - (MAYBE_END.exec(text)?.[0].length ?? 0);
}

function headerLength(text: string): number {
  const start = START.exec(text);
  const length = start ? start.index + start[0].length : 0;
  return length + (CREDITS.exec(text.slice(length))?.[0].length ?? 0);
}

function beginningOf(text: string, isEnd: boolean): 'beginning' | 'header' | 'other' {
  const begun = text.slice(0, LONGEST_OPENING).trimStart().replace(/\s+/gu, ' ').toLowerCase();
  if (OPENINGS.some((opening) => begun.startsWith(opening.toLowerCase()))) return 'header';
  const isOpen = !isEnd && text.length < LONGEST_OPENING;
  return isOpen && OPENINGS.some((opening) => opening.toLowerCase().startsWith(begun))
    ? 'beginning'
    : 'other';
}

/**
 * Waits for the first paragraph of the book, which may name who typed it and is then part of the header.
 * @param isOver true if the header was already left out
 */
function stateOfHeader(text: string, isEnd: boolean, isOver: boolean): 'header' | 'book' | 'other' {
  const start = START.exec(text);
  const book = start
    ? text.slice(start.index + start[0].length).trimStart()
    : isOver
      ? text.trimStart()
      : null;
  if (book !== null && (isEnd || /\S[^\S\n]*\n[^\S\n]*\n/u.test(book))) return 'book';
  return isEnd || text.length > LONGEST_HEADER ? 'other' : 'header';
}
