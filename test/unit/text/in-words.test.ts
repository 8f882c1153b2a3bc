import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { numbersInWords } from '../../../src/text/in-words.ts';
import { NUMBER_LINES } from './number-lines.ts';

const LINES = NUMBER_LINES.trim()
  .split(/\n(?=# )/u)
  .flatMap((block) => {
    const [head = '', ...lines] = block.split('\n');
    return lines
      .filter((line) => line !== '')
      .map((line): [tag: string, text: string, words: string] => {
        const [text = '', words = ''] = line.split(' | ');
        return [head.slice(2), text, words];
      });
  });

test('The table has at least 50 lines for each of six languages.', () => {
  expect(LINES.length).toBeGreaterThanOrEqual(300);
  for (const language of ['en', 'de', 'fr', 'es', 'it', 'pt'])
    expect(LINES.filter(([tag]) => tag === language).length).toBeGreaterThanOrEqual(50);
});

test.each(LINES)('%s: %s', async (tag, text, words) => {
  expect(await numbersInWords(text, tag)).toBe(words);
});

const SPELLED = ['en', 'de', 'fr', 'es', 'it', 'pt', 'pt-PT', 'es-MX', 'de-CH'];

describe.each(SPELLED)('In %s', (tag) => {
  test('no number becomes another one.', async () => {
    for (const around of [
      ['', ' €'],
      ['x: ', '.'],
      ['', ' personas'],
    ]) {
      const seen = new Map<string, number>();
      const clashes: unknown[] = [];
      for (const number of NUMBERS) {
        const words = await numbersInWords(around.join(String(number)), tag);
        if (seen.has(words)) clashes.push([words, seen.get(words), number]);
        seen.set(words, number);
      }
      expect(clashes).toEqual([]);
    }
  });

  test('marks of thousands change nothing, and those of decimals do.', async () => {
    const mark = ['en', 'es-MX', 'de-CH'].includes(tag) ? '.' : ',';
    const group = mark === '.' ? ',' : '.';
    const plain = await numbersInWords('x 123456', tag);
    for (const thousands of [group, '\u00a0', '\u202f', "'"])
      expect(await numbersInWords(`x 123${thousands}456`, tag)).toBe(plain);
    const decimals = new Set<string>();
    for (const behind of ['5', '05', '50', '005', '500', '55'])
      decimals.add(await numbersInWords(`x 3${mark}${behind}`, tag));
    expect(decimals.size).toBe(6);
  });

  test('text without numbers stays byte for byte.', async () => {
    for (const text of UNNUMBERED) expect(await numbersInWords(text, tag)).toBe(text);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (text) => {
        const plain = text.replace(/[\d½¼¾⅓⅔]/gu, '');
        expect(await numbersInWords(plain, tag)).toBe(plain);
      }),
    );
  });

  test('no digit is left, and no word is lost.', async () => {
    const part = fc.oneof(
      fc.constantFrom('tree', 'Haus,', 'été.', '(mano)', 'città'),
      fc.stringMatching(/^[-+$€]?\d{1,12}([.,:/-]\d{1,4}){0,3}[%€°]?$/u),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
        const words = await numbersInWords(parts.join(' '), tag);
        expect(words).not.toMatch(/\d/u);
        const kept = words
          .split(/\s+/u)
          .filter((word) => /^(?:tree|Haus,|été\.|\(mano\)|città)$/u.test(word));
        expect(kept).toEqual(parts.filter((each) => !/\d/u.test(each)));
      }),
    );
  });
});

const NUMBERS = [
  ...Array.from({ length: 1101 }, (_, number) => number),
  ...Array.from({ length: 150 }, (_, at) => 1101 + at * 977),
  ...Array.from({ length: 30 }, (_, at) => 1_000_000 + at * 1_010_101),
];

const UNNUMBERED = [
  'I think that Malcolm X takes vitamin C, and XL is a size.',
  'MIX, CD, DC, LIV, XI JINPING, I.V., Charles V. Smith, John X. Doe, Plan V',
  'snake_case -> that; a–b, c—d; “x” ‘y’ $ € % ° – -',
  'é è \u00a0 \u202f \u00ad 日本語 ①',
];

test.each(['ja', 'und', '', 'x-klingon', 'nl'])(
  'A language without words, %j, leaves numbers.',
  async (tag) => {
    expect(await numbersInWords('3 km, $5, Louis XIV', tag)).toBe('3 km, $5, Louis XIV');
  },
);

test.each(['de', 'DE', 'de_DE', 'de-AT', 'de-DE-1996', 'de-Latn-DE'])('%s is German.', async (tag) => {
  expect(await numbersInWords('21', tag)).toBe('einundzwanzig');
});
