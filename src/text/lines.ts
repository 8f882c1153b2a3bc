/** Tells line breaks that only wrap prose from those that separate lines, items or paragraphs. */
import { EXTENDER, hasWord, lazy } from './unicode.ts';

const lineBreak = lazy(() => new RegExp(`\\n\\s*(?!${EXTENDER})`, 'gu'));
/** Characters. Shorter lines are items, not wrapped prose, unless the paragraph ends like prose. */
const NARROWEST_WRAP = 40;
/** A line shorter than this share of the longest one ends on purpose, not by wrapping. */
const RAGGEDNESS = 0.6;
const fiveWords = lazy(() => /(?:\p{L}[\p{L}\p{M}'’-]*[,;]? ){4}\p{L}/u);

/**
 * Returns offsets (after the indentation) of lines that are not just wrapped: they begin like a list item, or their first
 * word is not in lower case and would have fitted on the line before.
 */
export function lineBorders(text: string): number[] {
  if (!text.includes('\n')) return [];
  const isShort = shortness(text);
  const lines = [...linesOf(text)];
  const lists = paragraphsWithItems(lines);
  const separates = (line: Line, before: Line) => {
    if (line.paragraph !== before.paragraph) return true;
    if (isListItem(line.begin)) {
      return lists.has(line.paragraph) || isShort(before.text, line.begin) || !isOpenProse(before.text);
    }
    return !goesOn(before.text) && !startsLower(line.begin) && isShort(before.text, line.begin);
  };
  return lines
    .filter((line, at) => at > 0 && separates(line, lines[at - 1] ?? line))
    .map(({ start }) => start);
}

interface Line {
  readonly start: number;
  /** The line without white space at its end. */
  readonly text: string;
  /** The first 200 UTF-16 units from its start, which may include later lines. */
  readonly begin: string;
  /** The number of its paragraph; empty lines separate paragraphs. */
  readonly paragraph: number;
}

function* linesOf(text: string): Generator<Line> {
  let [start, paragraph] = [0, 0];
  const lineTo = (end?: number) => {
    const begin = text.slice(start, start + 200);
    return { start, text: text.slice(start, end).trimEnd(), begin, paragraph };
  };
  for (const { 0: gap, index } of text.matchAll(lineBreak())) {
    yield lineTo(index);
    start = index + gap.length;
    if (gap.includes('\n', 1)) paragraph += 1;
  }
  yield lineTo();
}

/** Returns the numbers of paragraphs with at least two list items. */
function paragraphsWithItems(lines: readonly Line[]): ReadonlySet<number> {
  const items = lines.filter(({ begin }) => isListItem(begin)).map(({ paragraph }) => paragraph);
  return new Set(items.filter((paragraph, at) => paragraph === items[at - 1]));
}

/** Returns a test whether a line had room for the first word of the next one. */
function shortness(text: string): (line: string, next: string) => boolean {
  const narrowest = endsLikeProse(text) ? 0 : NARROWEST_WRAP;
  const room = RAGGEDNESS * Math.max(narrowest, longestLine(text));
  return (line, next) => line.length + 1 + firstWord(next).length <= room;
}

/** True for unfinished prose: a single "item" after it is only a wrapped number or dash. */
function isOpenProse(line: string): boolean {
  const isProse = line.length >= NARROWEST_WRAP && fiveWords().test(line);
  return isProse && !endsLikeProse(line) && !/[:：]$/u.test(line);
}

/**
 * Replaces each line break that only wraps a line by U+2028. The length stays.
 * @param isWhole true to keep all line breaks between sentences, for a text of many paragraphs
 */
export function unwrapped(text: string, isWhole = false): string {
  if (!text.includes('\n')) return text;
  const borders = new Set(lineBorders(text));
  return text.replace(lineBreak(), (gap, at: number) => {
    const next = at + gap.length;
    const isBorder =
      borders.has(next) || (endsLikeProse(text.slice(0, at)) && (isWhole || isShortLine(text, at, next)));
    return isBorder ? gap : gap.replace('\n', '\u2028');
  });
}

/** True for a line that is too short to have been wrapped in any text. */
function isShortLine(text: string, end: number, next: number): boolean {
  const start = text.lastIndexOf('\n', end - 1) + 1;
  return end - start + 1 + firstWord(text.slice(next)).length <= RAGGEDNESS * NARROWEST_WRAP;
}

function firstWord(text: string): string {
  return /^\S{0,200}/u.exec(text)?.[0] ?? '';
}

// V8 compiles a pattern inside a function at the first call: short texts never compile these, which saves 1.5 ms.

export function isListItem(line: string): boolean {
  return /^(?:[-*+•‣◦▪·・]|\(?\d{1,3}[.)]|\(?\p{L}\))\s/u.test(line);
}

/** True for a line that cannot end its sentence, or ends with a full stop, which the sentence rules judge ("Dr."). */
export function goesOn(line: string): boolean {
  return /[\p{L}\p{N}][-‐]$|[,;،、，；.]$/u.test(line.slice(-2));
}

export function startsLower(line: string): boolean {
  return /^[^\p{L}\p{N}]*\p{Ll}/u.test(line);
}

export function endsLikeProse(text: string): boolean {
  return /\p{Sentence_Terminal}\p{P}*$/u.test(text.slice(-200).trimEnd());
}

function longestLine(text: string): number {
  return text.split('\n').reduce((longest, line) => Math.max(longest, line.length), 0);
}

const blankLine = lazy(() => new RegExp(`\\n[^\\S\\n]*\\n\\s*(?!${EXTENDER})`, 'gu'));

/**
 * @returns the offset of the second paragraph; `undefined` if there is none yet. A paragraph without a letter or digit ("* *
 *   *") counts as part of its neighbour.
 */
export function secondParagraph(text: string): number | undefined {
  let start = 0;
  let isFound = false;
  for (const { 0: gap, index } of text.matchAll(blankLine())) {
    const isSpoken = hasWord(text.slice(start, index));
    if (isSpoken && isFound) return start;
    isFound ||= isSpoken;
    start = index + gap.length;
  }
  return isFound && hasWord(text.slice(start)) && start > 0 ? start : undefined;
}
