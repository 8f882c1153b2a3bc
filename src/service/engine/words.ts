import { segmenterOf } from '../../text/intl.ts';
import { spokenSeconds } from './spoken-seconds.ts';

/** Flite takes time in the square of the letters of a word: 15 s for 5,000. */
const LONGEST = 60;

/** Intl.Segmenter is shown no more at once: it takes time in the square of the length (V8 12 and before). */
const WINDOW = /.{1,500}/gsu;

const words = segmenterOf('word');
const graphemes = segmenterOf('grapheme');

/**
 * @param mostSeconds how long a piece may be spoken for
 * @returns what stands between white space; where that is very long, as in scripts without spaces, in pieces
 */
export function cutWords(text: string, mostSeconds: number): string[] {
  const whole = text.split(/\s+/u).filter(Boolean);
  const short = whole.flatMap((word) => (word.length <= LONGEST ? [word] : cut(word)));
  return short.flatMap((word) => halved(word, mostSeconds));
}

/** For a number, or letters that are named one by one, which take a voice long. */
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
