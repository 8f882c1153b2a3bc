import { withoutEscapes } from '../printable.ts';
import { SPELLINGS } from './symbols.ts';

/** Printable ASCII for Flite: accents go, signs become words, other scripts are left out. */
export function normalise(text: string): string {
  const ascii = spell(withoutEscapes(text))
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(LETTER, englishLetter)
    .replace(/[^\x20-\x7e]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .replace(/ (?=[,.;:!?])/gu, '')
    .trim();
  return /[a-z0-9]/iu.test(ascii) ? ascii : '';
}

function spell(text: string): string {
  return SPELLINGS.reduce((spelt, [pattern, spoken]) => spelt.replace(pattern, spoken), text);
}

function englishLetter(letter: string): string {
  const spoken = LETTERS.get(letter.toLowerCase()) ?? '';
  const isCapital = letter !== letter.toLowerCase();
  return isCapital ? spoken.charAt(0).toUpperCase() + spoken.slice(1) : spoken;
}

/** Unicode does not decompose them. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ð', 'th'],
  ['þ', 'th'],
  ['ħ', 'h'],
  ['ı', 'i'],
  ['ŋ', 'ng'],
  ['ŧ', 't'],
  ['ĸ', 'k'],
  ['ƒ', 'f'],
  ['ə', 'e'],
]);

const LETTER = new RegExp([...LETTERS.keys()].join('|'), 'giu');
