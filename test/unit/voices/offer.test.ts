import { expect, it } from 'vitest';
import { licenceIn } from '../../../src/voices/install/install.ts';

it.each([
  ['Public Domain', 'free'],
  ['CC0 1.0', 'free'],
  ['The Unlicense', 'free'],
  ['CC BY 4.0', 'attribution'],
  ['CC-BY-SA 4.0', 'attribution'],
  ['Apache-2.0', 'attribution'],
  ['MIT', 'attribution'],
  ['CC BY-NC 4.0', 'non-commercial or unknown'],
  ['CC-BY-NC4.0', 'non-commercial or unknown'],
  ['CC BY Non Commercial', 'non-commercial or unknown'],
  ['CC BY NonCommercial', 'non-commercial or unknown'],
  ['CC BY non\u2011commercial', 'non-commercial or unknown'],
  ['MIT, not for commercial use', 'non-commercial or unknown'],
  ['CC-BY-ND', 'non-commercial or unknown'],
  ['CC BY-NC-ND 4.0', 'non-commercial or unknown'],
  ['CC BY No Derivatives', 'non-commercial or unknown'],
  ['CC BY NoDerivs', 'non-commercial or unknown'],
  ['MIT, research only', 'non-commercial or unknown'],
  ['see URL', 'non-commercial or unknown'],
  ['GPL-3.0', 'unknown'],
])('The licence "%s" of a card is of the class "%s".', (licence, kind) => {
  expect(licenceIn(`# Anna\n* License: ${licence}\n`)).toEqual({ licence, class: kind });
});

it.each(['', '# Anna', 'License:'])('A card that says nothing of a licence is not free: "%s"', (card) => {
  expect(licenceIn(card)).toEqual({ licence: 'not said by its card', class: 'unknown' });
});
