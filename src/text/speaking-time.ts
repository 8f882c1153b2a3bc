import { countCodePoints, lazy } from './unicode.ts';

/** Seconds per character. */
interface CharacterTime {
  /** At a usual pace. */
  readonly usual: number;
  /** At the fastest pace that occurs. */
  readonly least: number;
}

/** Prose in an alphabet, with its spaces and punctuation. */
const LETTERS: CharacterTime = { usual: 0.067, least: 0.033 };

/** Seconds in addition to those of letters. Measured with the built-in voice `rms` on prose, verse, lists and dialogues. */
const MORE_FOR = [
  { seconds: 0.12, of: /\d/g },
  /** A digit of a long number stands for a word or two. */
  { seconds: 0.18, of: /(?<=\d\d)\d|(?<=\d)\d(?=\d)|\d(?=\d\d)/g },
  /** Signs that are read by their names. */
  { seconds: 0.3, of: /[#$%&*+/=@\\^_|~<>]/g },
  /** A voice slows down at the end of a sentence, and rests. */
  { seconds: 0.6, of: /[.!?…]["'”’)\]]{0,9}(?: |\n\n)|[。！？](?=.)/gu },
  /** A shorter rest after a list item. */
  { seconds: 0.45, of: /[^\n]\n(?!\n)/gu },
] as const;
/** Seconds for the sentence end at the end of the text. */
const MORE_AT_END = 0.6;
/** Share of the usual time per character that is left for letters: the usual time includes sentence ends. */
const SHARE_OF_LETTERS = 0.9;

/** Scripts whose characters stand for more than one sound. `least` is half the time of a character in fast speech. */
const OTHERS: readonly (CharacterTime & { readonly of: () => RegExp })[] = [
  { of: lazy(() => /\p{sc=Han}/gu), usual: 0.22, least: 0.09 },
  { of: lazy(() => /\p{sc=Hangul}/gu), usual: 0.18, least: 0.08 },
  {
    of: lazy(() => /[\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Ethiopic}\p{sc=Yi}\p{sc=Cherokee}\p{sc=Vai}]/gu),
    usual: 0.13,
    least: 0.06,
  },
];

/** @returns the seconds that the text takes at a usual pace, counting numbers, signs and sentence ends separately */
export function expectedSeconds(text: string): number {
  const more = MORE_FOR.map(({ seconds, of }) => seconds * (text.match(of)?.length ?? 0));
  return more.reduce((sum, each) => sum + each, SHARE_OF_LETTERS * usualSeconds(text) + MORE_AT_END);
}

/** @returns the seconds that the text takes at a usual pace, by its number of characters alone */
export function usualSeconds(text: string): number {
  return speakingSeconds(text, 'usual');
}

/** @returns the seconds that the text takes at least */
export function leastSeconds(text: string): number {
  return speakingSeconds(text, 'least');
}

function speakingSeconds(text: string, which: keyof CharacterTime): number {
  let letters = countCodePoints(text);
  if (hasUsualPace(text)) return letters * LETTERS[which];
  let seconds = 0;
  for (const other of OTHERS) {
    const count = text.match(other.of())?.length ?? 0;
    seconds += count * other[which];
    letters -= count;
  }
  return seconds + letters * LETTERS[which];
}

/** True if no character is of a script with another pace. */
function hasUsualPace(text: string): boolean {
  return /^[\0-\u10ff]*$/.test(text);
}
