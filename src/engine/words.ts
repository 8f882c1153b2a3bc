import { segmenterOf } from '../text/unicode.ts';

/** Flite's time is quadratic: 15 s for 5,000 letters. */
const LONGEST = 60;

/** Intl.Segmenter's time is quadratic (V8 12 and before). */
const WINDOW = /.{1,500}/gsu;

const words = segmenterOf('word');
const graphemes = segmenterOf('grapheme');

/**
 * Words stand between white space. Long ones come in pieces.
 * @param mostSeconds the longest time that a piece may take to say
 */
export function cutWords(text: string, mostSeconds: number): string[] {
  const whole = text.split(/\s+/u).filter(Boolean);
  const short = whole.flatMap((word) => (word.length <= LONGEST ? [word] : cut(word)));
  return short.flatMap((word) => halved(word, mostSeconds));
}

function halved(word: string, mostSeconds: number): string[] {
  if (spokenSeconds(word) <= mostSeconds) return [word];
  const characters = [...word];
  const middle = characters.length >> 1;
  const halves = [characters.slice(0, middle), characters.slice(middle)];
  return halves.flatMap((half) => halved(half.join(''), mostSeconds));
}

function cut(word: string): string[] {
  const windows = word.match(WINDOW) ?? [];
  return windows.flatMap((window) => pack(pieces(window, words()).flatMap(shortened)));
}

function shortened(word: string): string[] {
  return word.length <= LONGEST ? [word] : pieces(word, graphemes());
}

function pieces(text: string, segmenter: Intl.Segmenter): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function pack(small: readonly string[]): string[] {
  const packed: string[] = [];
  let last = '';
  for (const piece of small) {
    if (last && last.length + piece.length > LONGEST) {
      packed.push(last);
      last = '';
    }
    last += piece;
  }
  return [...packed, last];
}

/** Seconds. */
const WORD = 0.3;

/** Spelled; a W counts twice. */
const LETTER = 0.25;

/** Measured with the voice `rms`. */
const NAMED: readonly (readonly [pattern: RegExp, seconds: number])[] = [
  [/\d/gu, 0.5],
  [/[#$%&*+/=@\\^_|~]/gu, 0.6],
  [/[aeiouy]{4,}/giu, 0.15],
];

const LETTERS = /[a-z]+/giu;

/** Flite spells what does not begin and end as English words do. */
const READABLE =
  /^s?[bcdfghjklmnpqrtvwxz]?h?[lmnrsw]?[aeiouy](?:.*[aeiouy])?[cdfghlmnrstw]?[bcdfghklmnprstvwxz]?[hklstz]{0,2}s?$/iu;

/** Rough: digits, signs and spelled letters take up to ten times as long as prose. */
export function spokenSeconds(text: string): number {
  const words = (text.match(LETTERS) ?? []).reduce((sum, letters) => sum + letterSeconds(letters), 0);
  return NAMED.reduce((sum, [pattern, seconds]) => sum + seconds * count(text, pattern), words);
}

function letterSeconds(letters: string): number {
  return READABLE.test(letters) ? WORD : LETTER * (letters.length + count(letters, /w/giu));
}

function count(text: string, pattern: RegExp): number {
  return (text.match(pattern) ?? []).join('').length;
}
