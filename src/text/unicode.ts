/** How many Unicode code points the text has; a lone surrogate counts as one. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += unitsAt(text, at)) count += 1;
  return count;
}

/** The offset, in UTF-16 units, behind the first `count` code points, or the length of a shorter text. */
export function offsetOfCodePoint(text: string, count: number): number {
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left -= 1) at += unitsAt(text, at);
  return at;
}

/** Whether a text has no more code points than that. */
export function hasAtMost(text: string, count: number): boolean {
  return text.length <= count || countCodePoints(text) <= count;
}

/** As much of a text as fits into so many UTF-16 units, without half a code point at its end. */
export function fitting(text: string, units: number): string {
  return text.slice(0, units - (isHighSurrogate(text, units - 1) ? 1 : 0));
}

/** How many UTF-16 units the code point there takes. */
export function unitsAt(text: string, at: number): 1 | 2 {
  return isPair(text, at) ? 2 : 1;
}

/** Whether two surrogates stand there that make one code point. */
export function isPair(text: string, at: number): boolean {
  return isHighSurrogate(text, at) && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}

export function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

/**
 * The source of a pattern for the characters that join the cluster of any character before them, also of a space,
 * but not of a line end (Unicode UAX #29, rules GB4, GB9 and GB9a).
 */
export const EXTENDER = '[\\p{Grapheme_Extend}\\p{Mc}\\u0e33\\u0eb3\\p{Emoji_Modifier}\\u200d]';

const letterOrDigit = late(() => /[\p{L}\p{N}]/u);

/** Whether there is anything in a text to say. */
export function hasWord(text: string): boolean {
  return letterOrDigit().test(text);
}

/** Its language hardly matters, since the rules for all languages are one set. */
export function segmenterOf(granularity: 'sentence' | 'word' | 'grapheme'): () => Intl.Segmenter {
  return late(() => new Intl.Segmenter('en', { granularity }));
}

/**
 * What is made at its first use. The first Intl.Segmenter of a process takes 10 ms, a pattern with classes of Unicode
 * 0.2 ms, and short texts need none of them.
 */
export function late<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
