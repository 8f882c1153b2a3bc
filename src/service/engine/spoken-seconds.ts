/** For a word as prose has them, however long: a segment of prose is bounded by its words and letters. */
const WORD = 0.3;

/** For each letter of what is no word, and once more for a W. */
const LETTER = 0.25;

/** For each character of what is read character by character. Flite's voice `rms` was measured, as it reads them in a row. */
const NAMED: readonly (readonly [pattern: RegExp, seconds: number])[] = [
  [/\d/gu, 0.5],
  [/[#$%&*+/=@\\^_|~]/gu, 0.6],
  [/[aeiouy]{4,}/giu, 0.15],
];

const LETTERS = /[a-z]+/giu;

/** What begins and ends as English words do. Of anything else Flite names the letters. */
const READABLE =
  /^s?[bcdfghjklmnpqrtvwxz]?h?[lmnrsw]?[aeiouy](?:.*[aeiouy])?[cdfghlmnrstw]?[bcdfghklmnprstvwxz]?[hklstz]{0,2}s?$/iu;

/**
 * How long a voice speaks for a text without white space, roughly. Digits, signs, and letters that make no word take up
 * to ten times as long as the letters of prose.
 */
export function spokenSeconds(text: string): number {
  const words = (text.match(LETTERS) ?? []).reduce((sum, letters) => sum + secondsOf(letters), 0);
  return NAMED.reduce((sum, [pattern, seconds]) => sum + seconds * count(text, pattern), words);
}

function secondsOf(letters: string): number {
  return READABLE.test(letters) ? WORD : LETTER * (letters.length + count(letters, /w/giu));
}

/** The characters that a pattern finds in a text. */
function count(text: string, pattern: RegExp): number {
  return (text.match(pattern) ?? []).join('').length;
}
