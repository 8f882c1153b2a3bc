import { endsLikeProse } from '../text/lines.ts';
import type { Place } from '../text/piece.ts';

/** UTF-16 units. A longer line is prose. */
const LONGEST_LINE = 80;
/** Two short paragraphs are no stanza, unless they or verse before them have numbers of lines. */
const FEWEST_LINES = 3;
/** A stanza that is longer is given out in parts. */
const MOST_LINES = 64;
/** The share of lines that break off inside a sentence. */
const OPEN_LINES = 1 / 3;
/** The share of lines that end at a comma, where the last one does not end a sentence. */
const COMMAS = 1 / 8;
/** The share of words in lower case. Names, addresses and titles have fewer. */
const LOWER_WORDS = 0.45;
/** Words in a line. Labels and signatures have fewer. */
const FEWEST_WORDS = 3;

/** Each fifth or tenth line has its number. */
const STEP = 5;
const MOST_STEP = 20;

/** True for what may be the number of a line of verse. */
export function isLineNumber(text: string): boolean {
  return /^\d{1,4}$/.test(text) && Number(text) > 0 && Number(text) % STEP === 0;
}

/** True for lines that break off inside sentences, as verse does, and that are not names, items or addresses. */
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
  /** The same without the number of a line. */
  readonly bare: string;
  readonly place: Place;
}

/** Holds short blocks that follow each other in one container, until it is known whether they are lines of verse. */
export class Stanza {
  #container: object | undefined;
  #lines: Line[] = [];
  /** The last number of a line. */
  #number = Number.POSITIVE_INFINITY;

  /**
   * @param container the element around the block
   * @returns false for a block that begins no stanza
   */
  take(line: Line, container: object | undefined): boolean {
    if (!this.#goesOn(line, container)) return false;
    this.#container = container;
    this.#lines.push(line);
    return true;
  }

  /** A stanza is taken to begin inside a sentence. */
  #goesOn({ text, bare }: Line, container: object | undefined): boolean {
    if (text.includes('\n') || bare.length > LONGEST_LINE || this.#lines.length === MOST_LINES) return false;
    if (this.#lines.length > 0) return this.#container === container;
    return !endsLikeProse(bare) || bare !== text;
  }

  isIn(container: object | undefined): boolean {
    return this.#lines.length > 0 && this.#container === container;
  }

  /** @returns the lines as one text if they are verse, otherwise each of them */
  end(): readonly Pick<Line, 'text' | 'place'>[] {
    const lines = this.#lines;
    this.#lines = [];
    const [first] = lines;
    if (!first) return [];
    const bare = lines.map((line) => line.bare);
    const numbers = lines.flatMap(({ text, bare }) => (text === bare ? [] : [numberIn(text, bare)]));
    // Numbers that go on from those of earlier verse prove it as well.
    const isCounted = numbers.some((number) => number - this.#number <= MOST_STEP && number > this.#number);
    const isNumbered = numbers.length > 0 || Number.isFinite(this.#number);
    const mayBeVerse = isNumbered || lines.length >= FEWEST_LINES;
    if (!isCounted && !(mayBeVerse && isVerse(bare))) return lines;
    this.#number = numbers.at(-1) ?? this.#number;
    if (isVerse(bare) || breaksOff(bare)) return [{ text: bare.join(' '), place: first.place }];
    return lines.map(({ bare: text, place }) => ({ text, place }));
  }
}

function numberIn(text: string, bare: string): number {
  return Number(text.replace(bare, ''));
}

/** @returns the text of a block without the numbers of its lines, or the same text where it is not verse */
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
