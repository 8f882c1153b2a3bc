import { withoutEscapes } from '../printable.ts';
import { SPELLINGS } from './symbols.ts';

/** Printable ASCII for Flite: accents go, signs become words, other scripts are left out. */
export function normalise(text: string): string {
  const ascii = spell(headingSpoken(withoutEscapes(text)))
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

const NUMERAL =
  /^(\s*["“‘']?)((?=[IVXLC])(?:C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?=\.?\s*$|\.\s+\p{Lu}(?!\.))/u;
/** Other letters by themselves are initials or grades. */
const SINGLE = /^[IVX]$/u;
const VALUES: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100 };

/** A drop cap that stands apart: "T HE lamps". */
const DROP_CAP = /^(\s*["“‘']?)(?:([B-HJ-NP-Z]) ([A-Z]{2,})|([AIO]) ([B-DF-HJ-NP-TV-Z]{1,2}))(?=\s)/u;

/** The start of a sentence as a reader of books says it: numbers of chapters, and words with a drop cap. */
function headingSpoken(sentence: string): string {
  return sentence
    .replace(NUMERAL, (written, before: string, numeral: string) => {
      const isTitle = !/[.!?]["”’']?\s*$/u.test(sentence) || numeral.length === sentence.trim().length - 1;
      return numeral.length > 1 || (SINGLE.test(numeral) && isTitle)
        ? `${before}${numberOf(numeral)}`
        : written;
    })
    .replace(DROP_CAP, '$1$2$3$4$5');
}

function numberOf(numeral: string): number {
  const values = [...numeral].map((letter) => VALUES[letter] ?? 0);
  return values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0);
}
