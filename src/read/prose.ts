import { endsLikeProse, isListItem } from '../text/lines.ts';
import { PARAGRAPH_END } from '../text/piece.ts';
import { inTurn, type Stage } from '../text/stage.ts';
import { countLineBreaks, lazy } from '../text/unicode.ts';
import type { PlainOptions } from './reading.ts';

/** UTF-16 units of a text in which words are distinguished from other signs. */
const JUDGED = 65_536;
/** UTF-16 units. What follows in a longer line counts as another one. */
const LONGEST_LINE = 8192;
/** UTF-16 units of a word and the signs around it. */
const LONGEST_WORD = 100;
/** The share of words and numbers in prose. Logs and code have less. */
const WORDS_IN_PROSE = 0.85;
/** UTF-16 units. A longer line is a paragraph, unless most of such lines break off inside a sentence. */
const LONGEST_WRAPPED = 120;
/** The number of different words, or of lines at the borders of pages, that are remembered. */
const MOST_REMEMBERED = 100_000;
const MOST_DIVIDED = 1000;
/** It takes this many words that are known with a hyphen to tell the habit of a text. */
const FEWEST_HYPHENS = 3;
/** A line that stands at the border of this many pages is not part of the text. */
const FEWEST_PAGES = 3;

/** Each fifth or tenth line of a poem has its number at its end; so many of them in a row are no chance. */
const FEWEST_NUMBERED = 2;
/** Lines by which an edition may miscount. */
const MISCOUNT = 2;
/** UTF-16 units of the end of a line, in which its number stands. */
const LONGEST_NUMBERED = 120;

const plainWord = lazy(() => /^\p{L}[\p{L}\p{M}'’.‐—–-]*$/u);
const NUMBER = /^\d{1,4}(?:[.:,]\d+|st|nd|rd|th|s)?$/u;
const signsBehind = lazy(() => /(?:\[\d{1,3}\])*[\p{P}\p{S}]*$/u);
const signsBefore = lazy(() => /^[\p{P}]+/u);
const ONLY_MARKS = /^[*_—–-]+$/u;

/** What is known of a plain text: all of it where it can be read again, else what has come so far. */
export class TextFacts {
  #seen = 0;
  #words = 0;
  #tokens = 0;
  #partial = '';
  #longUnits = 0;
  #singleBreaks = 0;
  /** Those after long lines that break off inside a sentence. */
  #wraps = 0;
  #emptyLines = 0;
  /** The last line with text, and whether an empty line follows it; `undefined` before the first one. */
  #last: { readonly text: string; readonly isFollowed: boolean } | undefined;
  /** The number at the end of a line, and the lines since then. */
  #numbered = { last: 0, lines: 0, count: 0 };
  #pages = 0;
  #isAtHead = false;
  #hasLaterPages = false;
  readonly #borders = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  /** Words that a line end divides. */
  readonly #divided: (readonly [first: string, second: string])[] = [];

  /** @param text follows what was seen before */
  see(text: string): void {
    const [first = '', ...others] = text.split('\n');
    const lines = [this.#partial + first, ...others];
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
    if (this.#partial.length <= LONGEST_LINE) return;
    this.#line(this.#partial);
    this.#partial = '';
  }

  /** The text is at its end. */
  finish(): void {
    if (this.#partial !== '') this.#line(this.#partial);
    this.#partial = '';
  }

  /** False for logs, code and scripts without spaces. */
  get isProse(): boolean {
    const rest = this.#seen < JUDGED ? judged(this.#partial) : { words: 0, tokens: 0 };
    const tokens = this.#tokens + rest.tokens;
    return tokens > 0 && this.#words + rest.words >= tokens * WORDS_IN_PROSE;
  }

  /** Each line is a paragraph. */
  get isLinewise(): boolean {
    const isWrapped = this.#wraps * 2 > this.#singleBreaks;
    return !isWrapped && this.#singleBreaks > this.#emptyLines && this.#longUnits * 2 > this.#seen;
  }

  /** True for a poem that counts its lines. */
  get hasLineNumbers(): boolean {
    return this.#numbered.count >= FEWEST_NUMBERED;
  }

  get hasPages(): boolean {
    return this.#pages > 0;
  }

  /** True if text follows a form feed: one at the end of a text divides nothing. */
  get hasLaterPages(): boolean {
    return this.#hasLaterPages || this.#isOnLaterPage(this.#partial);
  }

  /** True for a running head or foot. */
  isRepeated(line: string): boolean {
    return (this.#borders.get(keyOfLine(line)) ?? 0) >= FEWEST_PAGES;
  }

  /** Counts words, by which divided words are put together. */
  countWords(text: string): void {
    for (const [word] of text.matchAll(/[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*(?![-‐]?\n)/gu)) {
      const key = word.toLowerCase();
      const count = this.#counts.get(key);
      if (count !== undefined || this.#counts.size < MOST_REMEMBERED) this.#counts.set(key, (count ?? 0) + 1);
    }
  }

  countOf(word: string): number {
    return this.#counts.get(word.toLowerCase()) ?? 0;
  }

  get hasDivided(): boolean {
    return this.#divided.length > 0;
  }

  /** True if the lines of the text end after hyphens that its words have anyway. */
  get prefersHyphens(): boolean {
    let [joined, hyphened] = [0, 0];
    for (const [first, second] of this.#divided) {
      const [asOne, asTwo] = [this.countOf(first + second), this.countOf(`${first}-${second}`)];
      if (asOne > asTwo) joined += 1;
      if (asTwo > asOne) hyphened += 1;
    }
    return hyphened >= FEWEST_HYPHENS && hyphened > joined * 4;
  }

  #line(line: string): void {
    if (this.#seen < JUDGED) {
      const { words, tokens } = judged(line);
      this.#words += words;
      this.#tokens += tokens;
    }
    this.#seen += line.length;
    if (line.includes('\f')) this.#turnPage();
    this.#hasLaterPages ||= this.#isOnLaterPage(line);
    const text = line.trim();
    if (text === '') {
      if (this.#last) this.#last = { ...this.#last, isFollowed: true };
      return;
    }
    if (this.#isAtHead) this.#addBorder(text);
    this.#isAtHead = false;
    this.#addBreak(text);
    this.#addNumber(text);
    this.#addDivided(text);
    this.#last = { text, isFollowed: false };
  }

  #isOnLaterPage(line: string): boolean {
    const at = line.lastIndexOf('\f');
    return (at >= 0 || this.#pages > 0) && line.slice(at + 1).trim() !== '';
  }

  #turnPage(): void {
    this.#pages += 1;
    this.#isAtHead = true;
    if (this.#last) this.#addBorder(this.#last.text);
  }

  #addNumber(line: string): void {
    this.#numbered.lines += 1;
    const number = lineNumberOf(line);
    if (number === undefined) return;
    const { last, lines, count } = this.#numbered;
    const isNext = number > last && Math.abs(number - last - lines) <= MISCOUNT;
    this.#numbered = { last: number, lines: 0, count: isNext ? count + 1 : count };
  }

  #addBorder(line: string): void {
    const key = keyOfLine(line);
    if (isPageNumber(line) || this.#borders.size >= MOST_REMEMBERED) return;
    this.#borders.set(key, (this.#borders.get(key) ?? 0) + 1);
  }

  #addDivided(line: string): void {
    if (!/[-‐]$/.test(this.#last?.text ?? '')) return;
    const first = /([\p{L}\p{M}]+)[-‐]$/u.exec(this.#last?.text ?? '')?.[1];
    const second = /^[\p{L}\p{M}]+/u.exec(line)?.[0];
    if (first && second && !this.#last?.isFollowed && this.#divided.length < MOST_DIVIDED)
      this.#divided.push([first, second]);
  }

  #addBreak(line: string): void {
    const isLong = line.length > LONGEST_WRAPPED;
    if (isLong) this.#longUnits += line.length;
    if (!this.#last || !(isLong || this.#last.text.length > LONGEST_WRAPPED)) return;
    if (this.#last.isFollowed) this.#emptyLines += 1;
    else {
      this.#singleBreaks += 1;
      if (this.#last.text.length > LONGEST_WRAPPED && !endsLikeProse(this.#last.text)) this.#wraps += 1;
    }
  }
}

const PAGE_NUMBER = /^[[(–—-]?\s*(?:[Pp]age\s+)?(?:\d{1,4}|[ivxlc]{1,7})\s*(?:of\s+\d{1,4})?\s*[\])–—-]?$/u;
/** The number of a chapter changes in the same way as the number of a page. */
const HEADING =
  /^(?:chapter|part|book|section|act|scene|canto|letter|volume|lesson|kapitel|teil|chapitre|cap[ií]tulo)\b/iu;

/** Behind words and some space. It looks at a run of spaces only once. */
const LINE_NUMBER = /(?<=\S)(?: {2}|\t)[ \t]*(\d{0,3}[05])(?=[ \t]*(?:\n|$))/u;

function lineNumberOf(line: string): number | undefined {
  const digits = LINE_NUMBER.exec(line.slice(-LONGEST_NUMBERED))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function isPageNumber(line: string): boolean {
  return PAGE_NUMBER.test(line.trim());
}

/** A line at the border of a page without the number of the page. */
function keyOfLine(line: string): string {
  const text = line.trim().replace(/\s+/gu, ' ');
  return HEADING.test(text) ? text : text.replace(/^\d{1,4} | \d{1,4}$/gu, '');
}

function judged(line: string): { readonly words: number; readonly tokens: number } {
  let words = 0;
  let tokens = 0;
  for (const token of line.split(/\s+|[—–]|--/u)) {
    if (token === '' || ONLY_MARKS.test(token)) continue;
    tokens += 1;
    if (token.length > LONGEST_WORD) continue;
    const core = token.replace(signsBehind(), '').replace(signsBefore(), '');
    if (plainWord().test(core) || NUMBER.test(core)) words += 1;
  }
  return { words, tokens };
}

/** First parts of compounds that are written with a hyphen. */
const FIRST = /^(?:well|half|self|vice|quasi|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)$/iu;
/** Last parts of such compounds. */
const LAST =
  /^(?:haired|eyed|minded|hearted|headed|handed|faced|looking|tempered|natured|shaped|coloured|colored|known|made|bred|worn)\b/iu;
/** The hyphen of "two- and threefold" belongs to the first word. */
const ALONE = /^(?:and|or|nor|to|und|oder|bis|et|ou|y|o)$/iu;

/**
 * Puts a word together that a line end divides. The words of the text decide; without them, known parts of compounds.
 * @returns the word, or `undefined` if these are two
 */
function joinedWord(
  first: string,
  second: string,
  facts: Pick<TextFacts, 'countOf' | 'prefersHyphens'>,
): string | undefined {
  if (ALONE.test(second)) return undefined;
  const [one, two] = [first + second, `${first}-${second}`];
  if (/[-‐]/u.test(first) || !/^\p{Ll}/u.test(second)) return two;
  const [asOne, asTwo] = [facts.countOf(one), facts.countOf(two)];
  if (asOne !== asTwo) return asOne > asTwo ? one : two;
  return FIRST.test(first) || LAST.test(second) || facts.prefersHyphens ? two : one;
}

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
class Licence implements Stage<string, string> {
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

/** UTF-16 units. A longer page is given out before its end. */
const LONGEST_PAGE = 16_384;

/**
 * Leaves out page numbers, and lines that stand at the borders of many pages. Form feeds divide the pages, as `pdftotext`
 * writes them. No line break is lost: those inside a paragraph come back after it.
 */
class Pages implements Stage<string, string> {
  readonly #facts: TextFacts;
  readonly #keepsPages: boolean;
  #held = '';
  /** The text that comes next begins a page. */
  #isNext = true;
  #goesOn = false;
  /** Line breaks that are still to come. */
  #owed = 0;

  /** @param keepsPages true if form feeds stay where a page does not begin inside a paragraph */
  constructor(facts: TextFacts, keepsPages: boolean) {
    this.#facts = facts;
    this.#keepsPages = keepsPages;
  }

  *push(text: string): Generator<string> {
    if (!this.#facts.hasPages && this.#held === '' && !text.includes('\f')) return yield text;
    const pages = (this.#held + text).split('\f');
    const last = pages.pop() ?? '';
    for (const page of pages) yield* this.#page(page);
    this.#held = last;
    if (last.length <= LONGEST_PAGE) return;
    this.#held = '';
    yield* this.#begin(last);
    this.#isNext = false;
  }

  *end(): Generator<string> {
    if (this.#held !== '') yield* this.#begin(this.#held);
  }

  *#page(page: string): Generator<string> {
    const foot = this.#footLength(page);
    yield* this.#begin(page.slice(0, page.length - foot));
    const rest = page.slice(page.length - foot);
    const text = page.slice(0, page.length - foot).trimEnd();
    this.#isNext = true;
    this.#goesOn = /[\p{Ll},;-][^\S\n]*$/u.test(text);
    this.#owed += countLineBreaks(rest);
  }

  *#begin(page: string): Generator<string> {
    if (!this.#isNext) return yield this.#paid(page);
    const head = this.#headLength(page);
    const space = /^\s*/u.exec(page.slice(head))?.[0] ?? '';
    const text = page.slice(head + space.length);
    this.#owed += countLineBreaks(page.slice(0, head + space.length));
    if (this.#goesOn && /^[^\S\n]*["'“‘(]?\p{Ll}/u.test(text)) {
      this.#owed = Math.max(0, this.#owed - 1);
      return yield this.#paid(`\n${text}`);
    }
    const breaks = this.#owed;
    this.#owed = 0;
    yield (breaks === 0 || this.#keepsPages ? '\f' : '') + '\n'.repeat(breaks) + text;
  }

  /** An empty line takes the line breaks that are owed. */
  #paid(text: string): string {
    if (this.#owed === 0) return text;
    return text.replace(/\n[^\S\n]*\n/u, (gap) => {
      const all = gap + '\n'.repeat(this.#owed);
      this.#owed = 0;
      return all;
    });
  }

  /** UTF-16 units of the lines at the end that are no text, and of the space in front of them. */
  #footLength(page: string): number {
    let end = page.trimEnd().length;
    for (;;) {
      const start = page.lastIndexOf('\n', end - 1) + 1;
      const line = page.slice(start, end);
      if (line.trim() === '' || !this.#isFurniture(line)) return page.length - end;
      end = page.slice(0, start).trimEnd().length;
    }
  }

  #headLength(page: string): number {
    for (let at = 0; ; ) {
      const start = at + (/^\s*/u.exec(page.slice(at))?.[0].length ?? 0);
      const end = page.indexOf('\n', start);
      const line = page.slice(start, end < 0 ? page.length : end);
      if (line === '' || !this.#isFurniture(line)) return at;
      at = start + line.length;
    }
  }

  #isFurniture(line: string): boolean {
    return isPageNumber(line) || this.#facts.isRepeated(line);
  }
}

const LETTER = '[\\p{L}\\p{M}]';

/** `_italics_`, and `_more than one word_`. */
const italics = lazy(
  () =>
    /(?<![\p{L}\p{N}_\\/.@])_(?=[\p{L}\p{N}"'“‘(¿¡—-])((?:[^_\n]|\n(?!\s*\n)){0,599}[^_\s])_(?![\p{L}\p{N}_])/gu,
);
const openItalics = lazy(
  () => /(?<![\p{L}\p{N}_\\/.@])_(?=[\p{L}\p{N}"'“‘(¿¡—-]|$)(?:[^_\n]|\n(?!\s*\n)){0,600}$/u,
);

/** "wait--what", "wait--", "well -- perhaps". An option of a program begins with its hyphens. */
const typedDash = lazy(
  () => /(?<=[\p{L}\p{N}\p{M}]{2}|^[IAO]|[^\p{L}][IAO]|[,;.!?"'”’)_])--(?=[\p{L}\p{N}"'“”‘’(_]|\s|$)(?!-)/gu,
);
const spacedDash = lazy(() => /(?<=[\p{L}\p{N},;.!?"'”’)_] )--(?= [\p{L}\p{N}"'“‘(_])/gu);

/** The mark of a note looks like the one in "word.[1]". */
const noteMark = lazy(
  () => /(?<=[\p{L}\p{N}.,;:!?"'”’)\]_])\[(?:[1-9]\d{0,2}|[*†‡])\](?=[\s.,;:!?"'”’)—[_-]|$)/gu,
);

const lineNumber = lazy(() => new RegExp(LINE_NUMBER.source.replace('|$', ''), 'gu'));

/**
 * "be-" at the end of a line, "fore" and what is attached to it in the next one; and the places that can take a line break: a
 * space, or an empty line.
 */
const divided = lazy(
  () =>
    new RegExp(
      `(?<hyphen>[-‐\\u00ad])(?=[^\\S\\n]*\\n)(?<=(?:^|[^‐\\p{L}\\p{M}\\u00ad-])(?<first>(?:${LETTER}{1,40}[-‐\\u00ad]){0,4}${LETTER}{1,40})[-‐\\u00ad])[^\\S\\n]*\\n[^\\S\\n]*(?<second>${LETTER}{1,40})(?<rest>[^\\s‐-]{0,40})(?<space> ?)|(?<=\\S) (?=\\S)|\\n(?=[^\\S\\n]*\\n)`,
      'gu',
    ),
);

/** What the next characters may change. */
const OPEN_END = /(?:(?:\u00ad|(?<![-‐])[-‐]{1,3})(?:[^\S\n]*\n[^\S\n]*\S{0,40})?|\[[\d*†‡]{0,3}\]?|--? ?)$/u;
const OPEN_BREAK = /\n[^\S\n]*\S{0,5}$/u;

const SINGLE_BREAK = /(?<!\n[^\S\n]*)\n(?![^\S\n]*(?:\n|$))/gu;

/** What the rules look for. */
const SIGNS = /[_[]|--|[-‐\u00ad][^\S\n]*\n/u;

/** UTF-16 units that rules look back on. */
const CONTEXT = 50;
/** UTF-16 units. Whoever writes this much at once is neither a model nor a person. */
const FAST = 1024;

/** Reads prose as people do: marks of italics and notes are silent, "--" is a dash, and divided words are whole. */
class Wording implements Stage<string, string> {
  readonly #facts: TextFacts;
  /** What was given out last, as it is written. */
  #before = '';
  #held = '';
  /** A line break that stood in a divided word. */
  #owed = 0;

  constructor(facts: TextFacts) {
    this.#facts = facts;
  }

  *push(text: string): Generator<string> {
    const all = this.#held + text;
    const start = this.#openFrom(all, text.length >= FAST);
    this.#held = all.slice(start);
    yield* this.#read(all.slice(0, start));
  }

  *end(): Generator<string> {
    yield* this.#read(this.#held);
    this.#held = '';
  }

  #openFrom(text: string, isFast: boolean): number {
    const open = [OPEN_END];
    if (isFast) open.push(openItalics());
    if (this.#facts.isLinewise) open.push(OPEN_BREAK);
    return Math.min(...open.map((pattern) => pattern.exec(text)?.index ?? text.length));
  }

  *#read(text: string): Generator<string> {
    if (text === '') return;
    const before = this.#before;
    this.#before = (before + text).slice(-CONTEXT);
    const { isLinewise, hasLineNumbers } = this.#facts;
    const isAsWritten = this.#owed === 0 && !isLinewise && !hasLineNumbers && !SIGNS.test(before + text);
    if (isAsWritten || !this.#facts.isProse) return yield text;
    const spoken = this.#spoken(before + text, before.length);
    yield this.#whole(spoken, before.length).slice(before.length);
  }

  /** What stands before the place has left and stays as it is. */
  #spoken(text: string, from: number): string {
    const rules: readonly (readonly [RegExp, Say])[] = [
      [italics(), ([, inside = '']) => inside],
      [noteMark(), () => ''],
      [typedDash(), () => '—'],
      [spacedDash(), () => '—'],
      ...(this.#facts.hasLineNumbers ? [[lineNumber(), () => ''] as const] : []),
    ];
    const spoken = rules.reduce((so, [pattern, sayIt]) => replacedFrom(so, from, pattern, sayIt), text);
    if (!this.#facts.isLinewise) return spoken;
    return replacedFrom(spoken, from, SINGLE_BREAK, ({ 0: written, index }) =>
      isInList(spoken, index) ? written : PARAGRAPH_END + written,
    );
  }

  /** Puts divided words together. The line break comes after the word, so the lines keep their numbers. */
  #whole(text: string, from: number): string {
    return replacedFrom(text, from, divided(), ({ 0: written, groups = {} }) => {
      const end = groups.hyphen && this.#joined(groups);
      if (groups.hyphen) return end === undefined ? written : this.#moved(end, groups);
      const paid = written === '\n' ? this.#owed : Math.min(1, this.#owed);
      this.#owed -= paid;
      if (paid === 0) return written;
      return '\n'.repeat(written === '\n' ? paid + 1 : paid);
    });
  }

  /** The rest of the word, without the hyphen. */
  #joined({ hyphen, first = '', second = '' }: Groups): string | undefined {
    if (hyphen === '\u00ad') return second;
    const visible = first.replaceAll('\u00ad', '');
    return joinedWord(visible, second, this.#facts)?.slice(visible.length);
  }

  #moved(end: string, { rest = '', space }: Groups): string {
    if (space === '') this.#owed += 1;
    return end + rest + (space && '\n');
  }
}

type Groups = Readonly<Record<string, string | undefined>>;

function isInList(text: string, at: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trimStart();
  return isListItem(line) && isListItem(text.slice(at + 1, at + 40).trimStart());
}

type Say = (match: RegExpExecArray) => string;

/** Replaces what begins at the place or after it. What stands before the place is only looked back on. */
function replacedFrom(text: string, from: number, pattern: RegExp, say: Say): string {
  let result = text.slice(0, from);
  let at = from;
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    result += text.slice(at, match.index) + say(match);
    at = pattern.lastIndex;
  }
  return result + text.slice(at);
}

const LICENCE_NOTE = 'the header and the licence of Project Gutenberg are left out; --all reads them';

/** Plain text as books have it. No line break is lost. */
export function prose(
  facts: TextFacts,
  { readsAll, hasChapters }: PlainOptions,
  onRemark: (remark: string) => void,
): Stage<string, string> {
  const wording = inTurn(new Pages(facts, hasChapters), new Wording(facts));
  return readsAll ? wording : inTurn(new Licence(() => onRemark(LICENCE_NOTE)), wording);
}
