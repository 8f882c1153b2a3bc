import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/engines/normalise.ts';
import { withinSeconds } from '../../support/clock.ts';

describe('normalise', () => {
  it.each([
    ['Hello, world!', 'Hello, world!'],
    ['naïve café, Zoë', 'naive cafe, Zoe'],
    ['Straße, Ærø, Œuvre, Łódź, þorn', 'Strasse, Aero, Oeuvre, Lodz, thorn'],
    ['it’s “quoted” ‘so’', "it's \"quoted\" 'so'"],
    ['wait… what', 'wait... what'],
    ['one—two – three', 'one, two, three'],
    ['pages 3–5', 'pages 3 to 5'],
    ['well‑known', 'well-known'],
    ['it is −5 outside', 'it is minus 5 outside'],
    ['€5 and £3.50', '5 euros and 3 pounds 50'],
    ['€3 million', '3 million euros'],
    ['20 €', '20 euros'],
    ['½ cup, 2½ cups', 'a half cup, 2 and a half cups'],
    ['20°C or 68 °F, at 90°', '20 degrees Celsius or 68 degrees Fahrenheit, at 90 degrees'],
    ['§ 12', 'section 12'],
    ['3×4', '3 times 4'],
    ['5,00,000 or 12,34,567 of 1,999 and 500,000', '500,000 or 1,234,567 of 1,999 and 500,000'],
    ['at 00:30, 0:05 and 12:00:30', "at 0 30, 0 05 and 12 o'clock and 30 seconds"],
    ['5 > 3, x < 4, <b>5</b>, <h1>6</h1>', '5 is greater than 3, x is less than 4, <b>5</b>, <h1>6</h1>'],
    ['© 2026', 'copyright 2026'],
    ['5 Ω or 5 \u2126', '5 ohms or 5 ohms'],
    ['ｆｕｌｌ 𝐛𝐨𝐥𝐝', 'full bold'],
    ['I ❤️ it 😀', 'I it'],
    ['mixed 你好 text', 'mixed text'],
    ['a\u0000b\u0007c\u200bd\u00ade', 'a b cde'],
    ['\u001b[31mred\u001b[0m', 'red'],
    ['lone \ud800 surrogate', 'lone surrogate'],
    ['tabs\tand\r\nlines', 'tabs and lines'],
    ['what ?', 'what?'],
  ])('makes %j readable', (text, spoken) => {
    expect(normalise(text)).toBe(spoken);
  });

  it.each([
    '',
    ' \n',
    '你好',
    '😀',
    '👨‍👩‍👧',
    '!?!',
    '...',
    '—',
    'привет',
    'Η Αθήνα είναι η πόλη',
    'مرحبا',
    '\u0000',
    '\u001b[31m',
    '°'.slice(1),
  ])('leaves nothing of %j', (text) => {
    expect(normalise(text)).toBe('');
  });

  it('gives printable ASCII in one line with a letter or digit, or nothing, whatever comes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(normalise(text)).toMatch(/^$|^(?=.*[a-z0-9])[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/iu);
      }),
      { numRuns: 1_000 },
    );
  });

  it('changes nothing more the second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = normalise(text);
        expect(normalise(once)).toBe(once);
      }),
    );
  });

  it('takes no longer for white space that leads to nothing: 400,000 characters in seconds', () =>
    withinSeconds(5, () => {
      const text = `a—b${' '.repeat(400_000)}b`;
      expect(normalise(text)).toBe('a, b b');
    }));
});

describe('Roman numbers, initials and abbreviations', () => {
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
