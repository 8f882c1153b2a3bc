/** Leaves out tables of contents whose lines lead to page numbers: "The Sea ....... 12". */
import { type Stage, WAITS } from '../text/stage.ts';
import { CONTENTS_REMARK, namesContents } from './gutenberg-text.ts';

/** UTF-16 units of a line; a longer one is text. */
const LONGEST_LINE = 300;
/** UTF-16 units of a table; in a longer one, the rest is a table of its own. */
const LONGEST_CONTENTS = 65_536;
/** Lines with page numbers that make a table below its title, and without one: a menu has prices like that. */
const [FEWEST_TITLED, FEWEST] = [2, 5] as const;
/** Lines of words between two lines with page numbers: wrapped ones, and titles of parts. */
const MOST_BETWEEN = 4;

/** Begins only at the first sign of a leader, to stay linear. */
const LEADER = /(?<![.…_·‥]\s?)(?:[.…_·‥]\s?){4,}\s*(\d{1,4}|[ivxlc]{1,7})\s*$/iu;
/** `pdftotext` writes the numbers of sections and pages on lines of their own, several in a row. */
const WORD = /\p{L}{2}/u;
/** The leader of a line that has not come to its end. */
const OPEN_LEADER = /[.…_·‥]\s?[.…_·‥]/u;
/** In such a book, the table also tells which lines are titles, and `gutenberg-text.ts` reads it. */
const GUTENBERG = /\bProject Gutenberg\b/u;

/** Holds lines while they may belong to a table of contents. The number of line breaks and form feeds stays the same. */
export class ContentsLines implements Stage<string, string> {
  readonly #onRemark: (remark: string) => void;
  #partial = '';
  /** True if the beginning of the current line was already emitted. */
  #isInLine = false;
  #held: string[] = [];
  #length = 0;
  #isTitled = false;
  /** Held lines up to the last one with a page number, and how many of these there are. */
  #table = { end: 0, entries: 0, page: 0 };
  /** Lines of words since then. */
  #between = 0;
  #isGutenberg = false;

  constructor(onRemark: (remark: string) => void) {
    this.#onRemark = onRemark;
  }

  /** Yields all of the text at once: later stages join words of neighbouring lines. */
  *push(text: string): Generator<string> {
    const ready = [...this.#lines(text)].join('');
    if (ready !== '') yield ready;
  }

  *#lines(text: string): Generator<string> {
    const lines = (this.#partial + text).split(/(?<=\n)/u);
    this.#partial = '';
    this.#isGutenberg ||= GUTENBERG.test(text);
    const last = lines.at(-1)?.endsWith('\n') ? '' : (lines.pop() ?? '');
    for (const line of lines) {
      if (this.#isInLine) yield line;
      else yield* this.#line(line);
      this.#isInLine = false;
    }
    if (this.#isInLine || last === '') return yield last;
    if (last.length < LONGEST_LINE && (this.#held.length > 0 || mayBelong(last))) this.#partial = last;
    else {
      yield* this.#release();
      this.#isInLine = true;
      yield last;
    }
  }

  *end(): Generator<string> {
    const rest = this.#partial === '' ? [] : this.#line(this.#partial);
    yield [...rest, ...this.#release()].join('');
  }

  *flush(idleMs: number): Generator<string> {
    if (idleMs < WAITS.line || !this.isHolding) return;
    yield* this.#release();
    this.#isInLine = this.#partial !== '';
    yield this.#partial;
    this.#partial = '';
  }

  get isHolding(): boolean {
    return this.#held.length > 0 || this.#partial !== '';
  }

  *#line(line: string): Generator<string> {
    const words = line.trim();
    const [, page] = (line.length <= LONGEST_LINE && LEADER.exec(words)) || [];
    if (this.#held.length === 0 && page === undefined && (this.#isGutenberg || !namesContents(words)))
      return yield line;
    const ends = page === undefined ? this.#endsAt(words) : this.#turnsBackTo(Number(page));
    if (this.#held.length > 0 && (ends || this.#length > LONGEST_CONTENTS)) {
      yield* this.#release();
      return yield* this.#line(line);
    }
    this.#isTitled ||= this.#held.length === 0 && page === undefined;
    this.#held.push(line);
    this.#length += line.length;
    if (page !== undefined) {
      const { entries, page: before } = this.#table;
      this.#table = { end: this.#held.length, entries: entries + 1, page: Number(page) || before };
      this.#between = 0;
    } else if (WORD.test(words) && !namesContents(words)) this.#between += 1;
  }

  #endsAt(words: string): boolean {
    const isSentence = /[.!?:;,]["'”’»)]*$/u.test(words) || words.length > LONGEST_LINE;
    return isSentence || (WORD.test(words) && this.#between >= MOST_BETWEEN);
  }

  /** Roman numbers of pages are no numbers here. */
  #turnsBackTo(page: number): boolean {
    return page < this.#table.page;
  }

  *#release(): Generator<string> {
    const { end, entries } = this.#table;
    const held = this.#held;
    const isTable = !this.#isGutenberg && entries >= (this.#isTitled ? FEWEST_TITLED : FEWEST);
    [this.#held, this.#length, this.#isTitled, this.#between] = [[], 0, false, 0];
    this.#table = { end: 0, entries: 0, page: 0 };
    if (isTable) this.#onRemark(CONTENTS_REMARK);
    for (const [at, line] of held.entries())
      yield isTable && at < end ? line.replace(/[^\n\f]+/gu, '') : line;
  }
}

function mayBelong(line: string): boolean {
  return OPEN_LEADER.test(line) || namesContents(line.trim());
}
