import { endsLikeProse } from '../text/lines.ts';
import type { Place } from '../text/piece.ts';

/** UTF-16 units. A longer line is prose. */
const LONGEST_LINE = 80;
/** Fewer short paragraphs are no stanza, unless they or earlier verse have line numbers. */
const FEWEST_LINES = 3;
/** A longer stanza is emitted in parts. */
const MOST_LINES = 64;
/** The share of lines that must break off inside a sentence. */
const OPEN_LINES = 1 / 3;
/** The share of lines that must end with a comma if the last one does not end a sentence. */
const COMMAS = 1 / 8;
/** The share of words that must be in lower case. Names, addresses and titles have fewer. */
const LOWER_WORDS = 0.45;
/** Words per line. Labels and signatures have fewer. */
const FEWEST_WORDS = 3;

/** Every fifth or tenth line may be numbered; MOST_STEP is the largest gap between two numbers. */
const STEP = 5;
const MOST_STEP = 20;

/** True for a possible line number of verse. */
export function isLineNumber(text: string): boolean {
  return /^\d{1,4}$/.test(text) && Number(text) > 0 && Number(text) % STEP === 0;
}

/** True for lines that break off inside sentences like verse, and are not names, list items or addresses. */
export function isVerse(lines: readonly string[]): boolean {
  return breaksOff(lines) && hasWords(lines) && (endsLikeProse(lines.at(-1) ?? '') || hasCommas(lines));
}

function breaksOff(lines: readonly string[]): boolean {
  if (lines.length < 2 || lines.some(({ length }) => length > LONGEST_LINE)) return false;
  const open = lines.slice(0, -1).filter((line) => !endsLikeProse(line));
  return open.length >= OPEN_LINES * (lines.length - 1);
}

function hasWords(lines: readonly string[]): boolean {
  const words = lines.flatMap((line) => line.split(' ').filter((word) => /^\P{L}{0,3}\p{L}/u.test(word)));
  const lower = words.filter((word) => /^\P{L}{0,3}\p{Ll}/u.test(word));
  return words.length >= FEWEST_WORDS * lines.length && lower.length >= LOWER_WORDS * words.length;
}

function hasCommas(lines: readonly string[]): boolean {
  const commas = lines.filter((line) => /[,;:—–-]["'”’)]{0,3}$/u.test(line));
  return commas.length >= COMMAS * lines.length;
}

interface Line {
  readonly text: string;
  /** The text without a line number. */
  readonly bare: string;
  readonly place: Place;
}

/** Holds consecutive short blocks in one container until it is clear whether they are verse. */
export class Stanza {
  #container: object | undefined;
  #lines: Line[] = [];
  /** The last line number seen. */
  #number = Number.POSITIVE_INFINITY;

  /**
   * @param container the element around the block
   * @returns false if the block cannot continue or begin a stanza
   */
  take(line: Line, container: object | undefined): boolean {
    if (!this.#goesOn(line, container)) return false;
    this.#container = container;
    this.#lines.push(line);
    return true;
  }

  /** True if the line continues the stanza, or can begin one: its first line must break off or be numbered. */
  #goesOn({ text, bare }: Line, container: object | undefined): boolean {
    if (text.includes('\n') || bare.length > LONGEST_LINE || this.#lines.length === MOST_LINES) return false;
    if (this.#lines.length > 0) return this.#container === container;
    return !endsLikeProse(bare) || bare !== text;
  }

  isIn(container: object | undefined): boolean {
    return this.#lines.length > 0 && this.#container === container;
  }

  /** @returns paragraphs of lines: one of all lines if they are verse, otherwise one for each */
  end(): readonly (readonly Pick<Line, 'text' | 'place'>[])[] {
    const lines = this.#lines;
    this.#lines = [];
    if (lines.length === 0) return [];
    const bare = lines.map((line) => line.bare);
    const numbers = lines.flatMap(({ text, bare }) => (text === bare ? [] : [numberIn(text, bare)]));
    // Line numbers that continue those of earlier verse are proof, too.
    const isCounted = numbers.some((number) => number - this.#number <= MOST_STEP && number > this.#number);
    const isNumbered = numbers.length > 0 || Number.isFinite(this.#number);
    const mayBeVerse = isNumbered || lines.length >= FEWEST_LINES;
    if (!isCounted && !(mayBeVerse && isVerse(bare))) return lines.map((line) => [line]);
    this.#number = numbers.at(-1) ?? this.#number;
    const spoken = lines.map(({ bare: text, place }) => ({ text, place }));
    return isVerse(bare) || breaksOff(bare) ? [spoken] : spoken.map((line) => [line]);
  }
}

function numberIn(text: string, bare: string): number {
  return Number(text.replace(bare, ''));
}

/** @returns the text of a block without its line numbers */
export function withoutLineNumbers(text: string, numbers: readonly string[]): string {
  if (numbers.length === 0) return text;
  return text
    .split('\n')
    .map((line) => {
      const number = numbers.find((each) => line.endsWith(each) || line.startsWith(each));
      if (number === undefined) return line;
      return line.endsWith(number)
        ? line.slice(0, line.length - number.length).trimEnd()
        : line.slice(number.length).trimStart();
    })
    .join('\n');
}
