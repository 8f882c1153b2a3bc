/**
 * Latin letters that Unicode does not decompose into an ASCII letter and marks, as an English reader would say them.
 * Capital letters follow from these.
 */
export const LETTERS: ReadonlyMap<string, string> = new Map([
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
