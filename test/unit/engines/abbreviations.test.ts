import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/engines/normalise.ts';

describe('the built-in voice', () => {
  it.each([
    ['II', '2'],
    ['XVI.', '16.'],
    ['XVI. The Sunset', '16. The Sunset'],
    ['I', '1'],
    ['I. The Beginning', '1. The Beginning'],
    ['XLIV', '44'],
    ['T HE lamps were lit.', 'THE lamps were lit.'],
    ['“T HE lamps', '"THE lamps'],
    ['I N the night', 'IN the night'],
    ['He eats fruit, e.g. apples.', 'He eats fruit, for example, apples.'],
    ['The last, i.e. the best, won.', 'The last, that is, the best, won.'],
    ['Cats vs. dogs', 'Cats versus dogs'],
    ['At No. 5 he stopped.', 'At number 5 he stopped.'],
    ['See pp. 5 and 6, p. 7 and Fig. 3.', 'See pages 5 and 6, page 7 and figure 3.'],
    ['Capt. Cook met Rev. Smith and Prof. Jones.', 'Captain Cook met Reverend Smith and Professor Jones.'],
    ['Apples, pears, &c.', 'Apples, pears, et cetera.'],
    ['Apples, &c., and so on', 'Apples, et cetera, and so on'],
    ['Smith & Co. sold it.', 'Smith and Company sold it.'],
  ])('reads %j', (written, spoken) => {
    expect(normalise(written)).toBe(spoken);
  });

  it.each([
    'I am here.',
    'A MAN came.',
    'I AM here.',
    'No. I will not.',
    'V. S. Naipaul wrote it.',
    'V. Woolf wrote it.',
    'CIVIL war.',
    'C',
    'He said Fig. and No. and left.',
    'The rev. counter',
  ])('does not change %j', (text) => {
    expect(normalise(text)).toBe(text);
  });
});
