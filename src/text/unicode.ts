/** A lone surrogate counts as one. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += unitsAt(text, at)) count += 1;
  return count;
}

/** @returns UTF-16 units */
export function offsetOfCodePoint(text: string, count: number): number {
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left -= 1) at += unitsAt(text, at);
  return at;
}

export function hasAtMost(text: string, count: number): boolean {
  return text.length <= count || countCodePoints(text) <= count;
}

/** It cuts no surrogate pair in two. */
export function fitting(text: string, units: number): string {
  return text.slice(0, units - (isHighSurrogate(text, units - 1) ? 1 : 0));
}

/** UTF-16 units. */
const QUOTED = 40;

/** Messages quote a text like this. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= QUOTED ? line : `${fitting(line, QUOTED)}…`;
}

export function unitsAt(text: string, at: number): 1 | 2 {
  return isPair(text, at) ? 2 : 1;
}

export function isPair(text: string, at: number): boolean {
  return isHighSurrogate(text, at) && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

export function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

/** Such a character belongs to the one before it, even to a space (UAX #29, rules GB4, GB9 and GB9a). */
export const EXTENDER = '[\\p{Grapheme_Extend}\\p{Mc}\\u0e33\\u0eb3\\p{Emoji_Modifier}\\u200d]';

const letterOrDigit = lazy(() => /[\p{L}\p{N}]/u);

export function hasWord(text: string): boolean {
  return letterOrDigit().test(text);
}

export function segmenterOf(granularity: 'sentence' | 'word' | 'grapheme'): () => Intl.Segmenter {
  return lazy(() => new Intl.Segmenter('en', { granularity }));
}

/** The first Intl.Segmenter takes 10 ms, a Unicode pattern 0.2 ms. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** A part of a text as it is written, and what a service gets of it. */
export interface Cleaned {
  readonly written: string;
  readonly text: string;
}

/** What `cleaned` may change: most texts have none of it but line breaks. */
const UNCLEAN = /[^\S\t ]| {2}|\u00ad|[^\p{ASCII}\u0080-\u02ff]/u;

/** Typists put two spaces after a sentence. */
const WIDE_SPACE = /(?<=[.!?…:]["'”’»)\]]{0,3}) {2}(?=\S|$)/gu;

/** A space with a combining mark is a character. */
const gaps = lazy(
  () =>
    new RegExp(`(?<![ \\t])[ \\t]*[\\n\\v\\f\\r\\u0085\\u2028\\u2029][\\s--\\u00a0]*(?!${EXTENDER})`, 'gv'),
);
const BLANK_LINE = /\n[^\S\n]*\n/u;

/** Soft hyphens, zero-width characters, marks of direction, byte order marks. */
const INVISIBLE =
  /[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/gu;

/** Joiners shape words of Arabic and Indic scripts, and emoji. Elsewhere they do nothing. */
const idleJoiners = lazy(
  () => /(?<=^|[\s\p{P}\p{N}\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}])[\u200c\u200d]+/gu,
);

/**
 * Text as a service gets it: composed (NFC), without what is never heard, and without the white space around line breaks.
 */
export function cleaned(text: string): string {
  return UNCLEAN.test(text) ? spaced(visibleOnly(text)) : text;
}

function visibleOnly(text: string): string {
  return withoutInvisible(text).replace(idleJoiners(), '').normalize('NFC');
}

/** The rules of sentences and lines look at such a text: what nobody sees decides nothing. */
export function withoutInvisible(text: string): string {
  return UNCLEAN.test(text) ? text.replace(INVISIBLE, '') : text;
}

/** @returns where a part of a text begins, from where it begins without what is invisible */
export function invisibleSkipped(text: string, visible: number): number {
  let end = visible;
  for (const { 0: sign, index } of text.matchAll(INVISIBLE)) {
    if (index >= end) break;
    end += sign.length;
  }
  return end;
}

function spaced(text: string): string {
  return text.replace(WIDE_SPACE, ' ').replace(gaps(), (gap) => {
    if (BLANK_LINE.test(gap)) return '\n\n';
    return gap.includes('\n') ? '\n' : ' ';
  });
}

const lineBreak = lazy(() => new RegExp(`\\n\\s*(?!${EXTENDER})`, 'gu'));
/** Shorter lines are items, unless the paragraph ends as prose does. */
const NARROWEST_WRAP = 40;
/** A line below this share of the width was not wrapped. */
const RAGGEDNESS = 0.6;
const fiveWords = lazy(() => /(?:\p{L}[\p{L}\p{M}'’-]*[,;]? ){4}\p{L}/u);

/**
 * Offsets after the indentation. Such a line begins like an item, or its first word would have fitted on the line before
 * and is not in lower case.
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
  /** The line has no white space at its end. */
  readonly text: string;
  /** What the rules look at, with what follows a short line. */
  readonly begin: string;
  /** Empty lines count the paragraphs. */
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

/** Those that have several of them. */
function paragraphsWithItems(lines: readonly Line[]): ReadonlySet<number> {
  const items = lines.filter(({ begin }) => isListItem(begin)).map(({ paragraph }) => paragraph);
  return new Set(items.filter((paragraph, at) => paragraph === items[at - 1]));
}

/** True for a line that has room for the first word of the next one. */
function shortness(text: string): (line: string, next: string) => boolean {
  const narrowest = endsLikeProse(text) ? 0 : NARROWEST_WRAP;
  const room = RAGGEDNESS * Math.max(narrowest, longestLine(text));
  return (line, next) => line.length + 1 + firstWord(next).length <= room;
}

/** An only item after a line of prose that goes on is not an item: the line break has put a number, or a dash, at its start. */
function isOpenProse(line: string): boolean {
  const isProse = line.length >= NARROWEST_WRAP && fiveWords().test(line);
  return isProse && !endsLikeProse(line) && !/[:：]$/u.test(line);
}

/**
 * The same length, with U+2028 for each line break inside a paragraph whose second line does not stand for itself.
 * @param isWhole true for a text of many paragraphs, which keeps the line breaks between sentences
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

/** No text is so narrow that its lines would be wrapped there. */
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

/** It is true as well where the sentence rules decide ("Dr."). */
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
const spaceWithMark = lazy(() => new RegExp(`^[^\\n\\r]${EXTENDER}`, 'u'));

/** Undefined if it has not come. A paragraph without a letter or digit ("* * *") belongs to its neighbour. */
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

/** Undefined while no character follows. A space with a combining mark is a character. */
export function leadingSpace(text: string): number | undefined {
  const first = text.search(/\S/u);
  if (first < 0) return undefined;
  const carriesMark = first > 0 && spaceWithMark().test(text.slice(first - 1, first + 2));
  return carriesMark ? first - 1 : first;
}

export function countLineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
