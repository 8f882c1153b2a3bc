import { countCodePoints, lazy } from './unicode.ts';

/** Seconds that a character takes. */
interface CharacterTime {
  /** Usual speech takes this long. */
  readonly usual: number;
  /** Nobody speaks faster. */
  readonly least: number;
}

/** Prose in letters, with its spaces and signs. */
const LETTERS: CharacterTime = { usual: 0.067, least: 0.033 };

/** Seconds that a digit takes more than a letter: it stands for a word or two. */
const MORE_FOR_DIGIT = 0.28;

/** Scripts whose characters stand for more than a sound. Half of the time that a character takes in fast speech is the least. */
const OTHERS: readonly (CharacterTime & { readonly of: () => RegExp })[] = [
  { of: lazy(() => /\p{sc=Han}/gu), usual: 0.22, least: 0.09 },
  { of: lazy(() => /\p{sc=Hangul}/gu), usual: 0.18, least: 0.08 },
  {
    of: lazy(() => /[\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Ethiopic}\p{sc=Yi}\p{sc=Cherokee}\p{sc=Vai}]/gu),
    usual: 0.13,
    least: 0.06,
  },
];

/** @returns the seconds that the text takes at a usual pace, with its numbers in words */
export function expectedSeconds(text: string): number {
  return usualSeconds(text) + MORE_FOR_DIGIT * (text.match(/\d/g)?.length ?? 0);
}

/** @returns the seconds that the text takes at a usual pace, if a digit takes no longer than a letter */
export function usualSeconds(text: string): number {
  return speakingSeconds(text, 'usual');
}

/** @returns the seconds that the text takes at least */
export function leastSeconds(text: string): number {
  return speakingSeconds(text, 'least');
}

function speakingSeconds(text: string, which: keyof CharacterTime): number {
  let letters = countCodePoints(text);
  if (isLatin(text)) return letters * LETTERS[which];
  let seconds = 0;
  for (const other of OTHERS) {
    const count = text.match(other.of())?.length ?? 0;
    seconds += count * other[which];
    letters -= count;
  }
  return seconds + letters * LETTERS[which];
}

/** Scripts with other paces begin after these. */
function isLatin(text: string): boolean {
  return /^[\0-\u10ff]*$/.test(text);
}
