import { countLineBreaks } from '../../text/lines.ts';
import type { Stage } from '../../text/live.ts';

/** What the files of Project Gutenberg begin with. */
const OPENINGS = ['The Project Gutenberg', 'Project Gutenberg', '*** START OF THE PROJECT GUTENBERG'];
const START =
  /^[^\S\n]*(?:\*\*\* ?START OF TH(?:E|IS) PROJECT GUTENBERG[^*]{0,400}\*\*\*|\*END\*\s?THE SMALL PRINT[^\n]*)[^\S\n]*\n/imu;
const CREDITS = /^\s*(?:E-?text )?(?:produced|prepared) by [^\n]*(?:\n[^\S\n]*\S[^\n]*)*/iu;
const END = /^[^\S\n]*(?:\*\*\* ?END OF TH(?:E|IS) PROJECT GUTENBERG|End of (?:the )?Project Gutenberg)/imu;
/** A line that may become such an end. */
const MAYBE_END = /(?:^|\n)[^\S\n]*(?:\*{1,3}[^\n]{0,30}|End?(?: [^\n]{0,30})?)$/u;

function headerLength(text: string): number {
  const start = START.exec(text);
  const length = start ? start.index + start[0].length : 0;
  return length + (CREDITS.exec(text.slice(length))?.[0].length ?? 0);
}

/** UTF-16 units in which a text says what it is. */
const LONGEST_OPENING = 200;
/** UTF-16 units. A longer header is text. */
const LONGEST_HEADER = 65_536;

/** Leaves out the header and the licence of Project Gutenberg. The line breaks of the header stay, so lines keep their numbers. */
export class Licence implements Stage<string, string> {
  readonly #tell: () => void;
  #held = '';
  #state: 'beginning' | 'header' | 'book' | 'other' | 'over' = 'beginning';

  /** @param tell is called when something is left out */
  constructor(tell: () => void) {
    this.#tell = tell;
  }

  push(text: string): Iterable<string> {
    if (this.#state === 'over') return [];
    if (this.#state === 'other') return [text];
    return this.#read(this.#held + text, false);
  }

  end(): Iterable<string> {
    return this.#read(this.#held, true);
  }

  *#read(text: string, isEnd: boolean): Generator<string> {
    this.#held = '';
    if (this.#state === 'beginning') this.#state = beginningOf(text, isEnd);
    if (this.#state === 'header') yield* this.#begin(text, isEnd);
    else if (this.#state === 'beginning') this.#held = text;
    else if (this.#state === 'other') yield text;
    else yield* this.#book(text, isEnd);
  }

  *#begin(text: string, isEnd: boolean): Generator<string> {
    this.#state = stateOfHeader(text, isEnd);
    if (this.#state === 'header') this.#held = text;
    else if (this.#state === 'other') yield text;
    else {
      const length = headerLength(text);
      this.#tell();
      yield '\n'.repeat(countLineBreaks(text.slice(0, length)));
      yield* this.#book(text.slice(length), isEnd);
    }
  }

  *#book(book: string, isEnd: boolean): Generator<string> {
    const end = book.search(END);
    if (end >= 0) this.#state = 'over';
    const length =
      end >= 0 ? end : isEnd ? book.length : book.length - (MAYBE_END.exec(book)?.[0].length ?? 0);
    this.#held = end >= 0 ? '' : book.slice(length);
    yield book.slice(0, length);
  }
}

function beginningOf(text: string, isEnd: boolean): 'beginning' | 'header' | 'other' {
  const begun = text.slice(0, LONGEST_OPENING).trimStart().replace(/\s+/gu, ' ');
  if (OPENINGS.some((opening) => begun.toLowerCase().startsWith(opening.toLowerCase()))) return 'header';
  const isOpen = !isEnd && text.length < LONGEST_OPENING;
  return isOpen && OPENINGS.some((opening) => opening.startsWith(begun)) ? 'beginning' : 'other';
}

/** The first paragraph of the book may name who typed it. */
function stateOfHeader(text: string, isEnd: boolean): 'header' | 'book' | 'other' {
  const start = START.exec(text);
  const book = start && text.slice(start.index + start[0].length).trimStart();
  if (book && (isEnd || /\n[^\S\n]*\n/u.test(book))) return 'book';
  return isEnd || text.length > LONGEST_HEADER ? 'other' : 'header';
}
