import { segmenterOf } from '../../text/intl.ts';

/** Flite takes time in the square of the letters of a word: 15 s for 5,000. */
const LONGEST = 60;

/** Intl.Segmenter is shown no more at once: it takes time in the square of the length (V8 12 and before). */
const WINDOW = /.{1,500}/gsu;

const words = segmenterOf('word');
const graphemes = segmenterOf('grapheme');

/** @returns what stands between white space; where that is very long, as in scripts without spaces, in pieces */
export function cutWords(text: string): string[] {
  const whole = text.split(/\s+/u).filter(Boolean);
  return whole.flatMap((word) => (word.length <= LONGEST ? [word] : cut(word)));
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
