/** Counts code points; a lone surrogate counts as one. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += unitsAt(text, at)) count += 1;
  return count;
}

/** @returns the code points before each UTF-16 unit, and before the end */
export function codePointsBefore(text: string): Uint32Array {
  const before = new Uint32Array(text.length + 1);
  for (let at = 0, count = 1; at < text.length; count += 1) {
    const next = at + unitsAt(text, at);
    before.fill(count, at + 1, next + 1);
    at = next;
  }
  return before;
}

/** @returns the UTF-16 units that are not white space */
export function inkOf(text: string): number {
  return text.replace(/\s+/gu, '').length;
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

/** Returns the first `units` UTF-16 units of a text, without half a surrogate pair at the end. */
export function fitting(text: string, units: number): string {
  return text.slice(0, units - (isHighSurrogate(text, units - 1) ? 1 : 0));
}

/** UTF-16 units of an excerpt. */
const QUOTED = 40;

/** Returns the beginning of a text in one line, for messages. */
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

/** A character that belongs to the one before it, even to a space (UAX #29, rules GB4, GB9 and GB9a). */
export const EXTENDER = '[\\p{Grapheme_Extend}\\p{Mc}\\u0e33\\u0eb3\\p{Emoji_Modifier}\\u200d]';

const letterOrDigit = lazy(() => /[\p{L}\p{N}]/u);

export function hasWord(text: string): boolean {
  return letterOrDigit().test(text);
}

/** Returns the words in lower case without punctuation, to compare titles. */
export function wordKey(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}

/** The segmenters of UAX #29. */
export const segmenters = {
  grapheme: lazy(() => new Intl.Segmenter('en', { granularity: 'grapheme' })),
  word: lazy(() => new Intl.Segmenter('en', { granularity: 'word' })),
  sentence: lazy(() => new Intl.Segmenter('en', { granularity: 'sentence' })),
};

/** Defers a costly value to its first use: an Intl.Segmenter takes 10 ms, a Unicode pattern 0.2 ms. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Scripts without spaces between words, for a character class. */
export const UNSPACED = 'Han Hiragana Katakana Bopomofo Yi Thai Lao Khmer Myanmar Tibetan'
  .split(' ')
  .map((script) => `\\p{sc=${script}}`)
  .join('');

/** Makes a regular expression with the flags g and u from a raw template, without doubled backslashes. */
export function pattern(template: TemplateStringsArray, ...parts: readonly string[]): RegExp {
  return new RegExp(String.raw(template, ...parts), 'gu');
}

/** Matches everything that `cleaned` may change. Most texts contain only line breaks of it. */
const UNCLEAN = /[^\S\t ]| {2}|\u00ad|[^\p{ASCII}\u0080-\u02ff]/u;

/** Two spaces after a sentence, as typists write them. */
const WIDE_SPACE = /(?<=[.!?…:]["'”’»)\]]{0,3}) {2}(?=\S|$)/gu;

/** White space with a line break. A space with a combining mark is a character, and not part of it. */
const gaps = lazy(
  () =>
    new RegExp(`(?<![ \\t])[ \\t]*[\\n\\v\\f\\r\\u0085\\u2028\\u2029][\\s--\\u00a0]*(?!${EXTENDER})`, 'gv'),
);
const BLANK_LINE = /\n[^\S\n]*\n/u;

/** Soft hyphens, zero-width characters, marks of direction, byte order marks. */
const INVISIBLE =
  /[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/gu;

/** Joiners without effect: they shape only Arabic and Indic scripts and emoji. */
const idleJoiners = lazy(
  () => /(?<=^|[\s\p{P}\p{N}\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}])[\u200c\u200d]+/gu,
);

/**
 * Cleans text for a voice: composed (NFC), without inaudible characters, and without white space around line breaks.
 */
export function cleaned(text: string): string {
  return UNCLEAN.test(text) ? spaced(visibleOnly(text)) : text;
}

function visibleOnly(text: string): string {
  return withoutInvisible(text).replace(idleJoiners(), '').normalize('NFC');
}

/** Removes invisible characters, which the sentence and line rules must ignore. */
export function withoutInvisible(text: string): string {
  return UNCLEAN.test(text) ? text.replace(INVISIBLE, '') : text;
}

/** @returns an offset in the text, for one in the text without invisible characters */
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

const spaceWithMark = lazy(() => new RegExp(`^[^\\n\\r]${EXTENDER}`, 'u'));

/** @returns the length of leading white space, except a space with a combining mark; `undefined` if nothing else follows */
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

/** Characters by their HTML entity names that also occur in texts that are not HTML. Direction marks are dropped. */
export const NAMED_CHARACTERS: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  lrm: '',
  rlm: '',
  copy: '©',
  deg: '°',
  euro: '€',
  pound: '£',
};
