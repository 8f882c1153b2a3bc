import { stripVTControlCharacters } from 'node:util';
import { LETTERS } from './letters.ts';
import { SPELLINGS } from './symbols.ts';

const LETTER = new RegExp([...LETTERS.keys()].join('|'), 'giu');

/**
 * Brings text into the form that Flite can read: printable ASCII. Accents go, signs become words, and what an
 * English voice has no sound for (other scripts, emoji, control characters) is left out.
 *
 * @returns the text in one line, or an empty string where nothing is left that can be spoken
 */
export function normalise(text: string): string {
  const ascii = spell(stripVTControlCharacters(text))
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
