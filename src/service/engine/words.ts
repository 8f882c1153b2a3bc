import { segmenterOf } from '../../text/unicode.ts';

/** Flite's time grows with the square of the letters of a word: 15 s for 5,000. */
const LONGEST = 60;

/** Intl.Segmenter's time grows with the square of the length (V8 12 and before). */
const WINDOW = /.{1,500}/gsu;

const words = segmenterOf('word');
const graphemes = segmenterOf('grapheme');

/**
 * @param mostSeconds the longest piece when spoken
 * @returns the words between white space; long ones, as in scripts without spaces, in pieces
 */
export function cutWords(text: string, mostSeconds: number): string[] {
  const whole = text.split(/\s+/u).filter(Boolean);
  const short = whole.flatMap((word) => (word.length <= LONGEST ? [word] : cut(word)));
  return short.flatMap((word) => halved(word, mostSeconds));
}

/** Halves numbers and spelled letters until they are short enough. */
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

/** Seconds of a word of prose. */
const WORD = 0.3;

/** For each letter that is spelled; a W counts twice. */
const LETTER = 0.25;

/** For each character that is named. Measured with Flite's voice `rms`. */
const NAMED: readonly (readonly [pattern: RegExp, seconds: number])[] = [
  [/\d/gu, 0.5],
  [/[#$%&*+/=@\\^_|~]/gu, 0.6],
  [/[aeiouy]{4,}/giu, 0.15],
];

const LETTERS = /[a-z]+/giu;

/** True for what begins and ends as English words do. Flite spells everything else. */
const READABLE =
  /^s?[bcdfghjklmnpqrtvwxz]?h?[lmnrsw]?[aeiouy](?:.*[aeiouy])?[cdfghlmnrstw]?[bcdfghklmnprstvwxz]?[hklstz]{0,2}s?$/iu;

/** A rough duration. Digits, signs and spelled letters take up to ten times as long as prose. */
export function spokenSeconds(text: string): number {
  const words = (text.match(LETTERS) ?? []).reduce((sum, letters) => sum + secondsOf(letters), 0);
  return NAMED.reduce((sum, [pattern, seconds]) => sum + seconds * count(text, pattern), words);
}

function secondsOf(letters: string): number {
  return READABLE.test(letters) ? WORD : LETTER * (letters.length + count(letters, /w/giu));
}

function count(text: string, pattern: RegExp): number {
  return (text.match(pattern) ?? []).join('').length;
}
