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
