/** Gathers facts about a plain text as a whole, which decide how `prose.ts` reads it. */
import { endsLikeProse } from '../text/lines.ts';

/** UTF-16 units in which the share of words is measured. */
const MOST_JUDGED = 65_536;
/** UTF-16 units. The rest of a longer line counts as another line. */
const LONGEST_LINE = 8192;
/** UTF-16 units of a word with the signs around it. */
const LONGEST_WORD = 100;
/** The share of words and numbers from which on a text is prose. Logs and code have less. */
const WORDS_IN_PROSE = 0.85;
/** UTF-16 units. A longer line is a paragraph, unless most such lines break off inside a sentence. */
const LONGEST_WRAPPED = 120;
/** Different words, and lines at page borders, that are remembered. */
const MOST_REMEMBERED = 100_000;
const MOST_DIVIDED = 1000;
/** Divided words whose hyphenated form is known that it takes to tell a text's habit. */
const FEWEST_HYPHENS = 3;
/** Pages on which a border line must repeat to be left out. A text of two pages has no third. */
export const FEWEST_PAGES = 3;
export const TWO_PAGES = 2;
/** Lines at each border of a page that are compared. */
const MOST_BORDER_LINES = 4;
/**
 * Pages between two equal running heads: left and right pages differ. Lines further apart are text that happens to repeat.
 */
const MOST_PAGES_APART = 2;

/** Consecutive line numbers at every fifth or tenth line that are no coincidence. */
const FEWEST_NUMBERED = 2;
/** Lines by which an edition may miscount. */
const MISCOUNT = 2;
/** UTF-16 units at the end of a line where its number is searched. */
const LONGEST_NUMBERED = 120;

const PLAIN_WORD = /^\p{L}[\p{L}\p{M}'’.‐—–-]*$/u;
const NUMBER = /^\d{1,4}(?:[.:,]\d+|st|nd|rd|th|s)?$/u;
const SIGNS_BEHIND = /(?:\[\d{1,3}\])*[\p{P}\p{S}]*$/u;
const SIGNS_BEFORE = /^\p{P}+/u;
const ONLY_MARKS = /^[*_—–-]+$/u;

/** First parts of hyphenated compounds. */
const FIRST_PARTS = /^(?:well|half|self|vice|quasi|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)$/iu;
/** Last parts of hyphenated compounds. */
const LAST_PARTS =
  /^(?:haired|eyed|minded|hearted|headed|handed|faced|looking|tempered|natured|shaped|coloured|colored|known|made|bred|worn)\b/iu;
/** After these words, the hyphen belongs to the first word: "two- and threefold". */
const AFTER_OPEN_HYPHEN = /^(?:and|or|nor|to|und|oder|bis|et|ou|y|o)$/iu;

/** What is known of a plain text: of all of it if it can be read again, otherwise of what has come so far. */
export class TextFacts {
  readonly #hasTwoPages: boolean;
  #seen = 0;
  #words = 0;
  #tokens = 0;
  #partial = '';
  #longUnits = 0;
  #singleBreaks = 0;
  /** Line breaks after long lines that break off inside a sentence. */
  #wraps = 0;
  #emptyLines = 0;
  /** The last line with text, and whether an empty line follows it; `undefined` before the first one. */
  #last: { readonly text: string; readonly isFollowed: boolean } | undefined;
  /** The last line number, the lines since then, and how many numbers were consecutive. */
  #numbered = { last: 0, lines: 0, count: 0 };
  #pages = 0;
  /** The first lines of the page while there may be more, and its last lines so far: both from the border inwards. */
  #head: readonly string[] | undefined;
  #foot: readonly string[] = [];
  #hasLaterPages = false;
  /** For border lines: on how many pages near each other they occur, and on which page last. */
  readonly #borders = new Map<string, { readonly count: number; readonly page: number }>();
  readonly #counts = new Map<string, number>();
  /** Words divided at a line end. */
  readonly #divided: (readonly [first: string, second: string])[] = [];

  /** @param pages `hasTwoPages` if the text is known to have exactly two pages */
  constructor({ hasTwoPages = false }: { readonly hasTwoPages?: boolean } = {}) {
    this.#hasTwoPages = hasTwoPages;
  }

  /** @param text continues the text seen before */
  see(text: string): void {
    const [first = '', ...others] = text.split('\n');
    const lines = [this.#partial + first, ...others];
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
    if (this.#partial.length <= LONGEST_LINE) return;
    this.#line(this.#partial);
    this.#partial = '';
  }

  finish(): void {
    if (this.#partial !== '') this.#line(this.#partial);
    this.#partial = '';
  }

  /** False for logs, code and scripts without spaces. */
  get isProse(): boolean {
    const rest = this.#seen < MOST_JUDGED ? wordsIn(this.#partial) : { words: 0, tokens: 0 };
    const tokens = this.#tokens + rest.tokens;
    return tokens > 0 && this.#words + rest.words >= tokens * WORDS_IN_PROSE;
  }

  /** True if each line is a paragraph. */
  get isLinewise(): boolean {
    const isWrapped = this.#wraps * 2 > this.#singleBreaks;
    return !isWrapped && this.#singleBreaks > this.#emptyLines && this.#longUnits * 2 > this.#seen;
  }

  get hasLineNumbers(): boolean {
    return this.#numbered.count >= FEWEST_NUMBERED;
  }

  get hasPages(): boolean {
    return this.#pages > 0;
  }

  /** True if text follows a form feed: one at the end divides nothing. */
  get hasLaterPages(): boolean {
    return this.#hasLaterPages || this.#isOnLaterPage(this.#partial);
  }

  /**
   * True for a running head or foot.
   * @param lines from the page border inwards, without page numbers; the question is about the last one
   * @param mayBeTitle true at the head of the first page: the second of two pages may only repeat the title there
   */
  isRepeated(lines: readonly string[], mayBeTitle: boolean): boolean {
    const { count = 0 } = this.#borders.get(keyOfLines(lines)) ?? {};
    return count >= (this.#hasTwoPages && !mayBeTitle ? TWO_PAGES : FEWEST_PAGES);
  }

  /** Counts words, which later decide how divided words are joined. */
  countWords(text: string): void {
    for (const [word] of text.matchAll(/[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*(?![-‐]?\n)/gu)) {
      const key = word.toLowerCase();
      const count = this.#counts.get(key);
      if (count !== undefined || this.#counts.size < MOST_REMEMBERED) this.#counts.set(key, (count ?? 0) + 1);
    }
  }

  get hasDividedWords(): boolean {
    return this.#divided.length > 0;
  }

  /**
   * Joins a word that was divided at a line end. The words of the text decide, or else known parts of compounds.
   * @returns the joined word; `undefined` if these are two words
   */
  joinedWord(first: string, second: string): string | undefined {
    if (AFTER_OPEN_HYPHEN.test(second)) return undefined;
    const [one, two] = [first + second, `${first}-${second}`];
    if (/[-‐]/u.test(first) || !/^\p{Ll}/u.test(second)) return two;
    const [asOne, asTwo] = [this.#countOf(one), this.#countOf(two)];
    if (asOne !== asTwo) return asOne > asTwo ? one : two;
    return FIRST_PARTS.test(first) || LAST_PARTS.test(second) || this.#prefersHyphens ? two : one;
  }

  /** True if the text's lines mostly break at hyphens that its words have anyway. */
  get #prefersHyphens(): boolean {
    let [joined, hyphened] = [0, 0];
    for (const [first, second] of this.#divided) {
      const [asOne, asTwo] = [this.#countOf(first + second), this.#countOf(`${first}-${second}`)];
      if (asOne > asTwo) joined += 1;
      if (asTwo > asOne) hyphened += 1;
    }
    return hyphened >= FEWEST_HYPHENS && hyphened > joined * 4;
  }

  #countOf(word: string): number {
    return this.#counts.get(word.toLowerCase()) ?? 0;
  }

  #line(line: string): void {
    if (this.#seen < MOST_JUDGED) {
      const { words, tokens } = wordsIn(line);
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
    if (!isPageNumber(text)) this.#addToPage(text);
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
    for (let count = 1; count <= this.#foot.length; count += 1) this.#addBorder(this.#foot.slice(0, count));
    this.#pages += 1;
    this.#head = [];
    this.#foot = [];
  }

  #addToPage(line: string): void {
    this.#foot = [line, ...this.#foot].slice(0, MOST_BORDER_LINES);
    if (!this.#head) return;
    this.#head = [...this.#head, line];
    this.#addBorder(this.#head);
    if (this.#head.length === MOST_BORDER_LINES) this.#head = undefined;
  }

  #addNumber(line: string): void {
    this.#numbered.lines += 1;
    const number = lineNumberOf(line);
    if (number === undefined) return;
    const { last, lines, count } = this.#numbered;
    const isNext = number > last && Math.abs(number - last - lines) <= MISCOUNT;
    this.#numbered = { last: number, lines: 0, count: isNext ? count + 1 : count };
  }

  #addBorder(lines: readonly string[]): void {
    if (this.#borders.size >= MOST_REMEMBERED) return;
    const [key, page] = [keyOfLines(lines), this.#pages];
    const { count = 0, page: last = page } = this.#borders.get(key) ?? {};
    const isKnown = count >= FEWEST_PAGES || page - last <= MOST_PAGES_APART;
    this.#borders.set(key, { count: isKnown ? count + 1 : 1, page });
  }

  #addDivided(line: string): void {
    const first = /([\p{L}\p{M}]+)[-‐]$/u.exec(this.#last?.text.slice(-LONGEST_WORD) ?? '')?.[1];
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

const PAGE_NUMBER =
  /^[[(–—-]?\s*(?:[Pp]age\s+)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of\s+|\/\s?)\d{1,4})?\s*[\])–—-]?$/u;
/** A chapter heading changes its number like a page number, but must not be taken for a running head. */
const HEADING =
  /^(?:chapter|part|book|section|act|scene|canto|letter|volume|lesson|kapitel|teil|chapitre|cap[ií]tulo)\b/iu;

/** A line number after words and some space. Matches each run of spaces once, to stay linear. */
export const LINE_NUMBER = /(?<=\S)(?: {2}|\t)[ \t]*(\d{0,3}[05])(?=[ \t]*(?:\n|$))/u;

function lineNumberOf(line: string): number | undefined {
  const digits = LINE_NUMBER.exec(line.slice(-LONGEST_NUMBERED))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function isPageNumber(line: string): boolean {
  return PAGE_NUMBER.test(line.trim());
}

function keyOfLines(lines: readonly string[]): string {
  return lines.map(keyOfLine).join('\n');
}

/** Returns a line at the page border without its page number. */
export function keyOfLine(line: string): string {
  const text = line.trim().replace(/\s+/gu, ' ');
  return HEADING.test(text) ? text : text.replace(/^\d{1,4} | \d{1,4}$/gu, '');
}

function wordsIn(line: string): { readonly words: number; readonly tokens: number } {
  let words = 0;
  let tokens = 0;
  for (const token of line.split(/\s+|[—–]|--/u)) {
    if (token === '' || ONLY_MARKS.test(token)) continue;
    tokens += 1;
    if (token.length > LONGEST_WORD) continue;
    const core = token.replace(SIGNS_BEHIND, '').replace(SIGNS_BEFORE, '');
    if (PLAIN_WORD.test(core) || NUMBER.test(core)) words += 1;
  }
  return { words, tokens };
}
