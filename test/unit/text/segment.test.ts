import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cleaned } from '../../../src/text/unicode.ts';
import { withinSeconds } from '../../support/clock.ts';
import { heldMemory } from '../../support/memory.ts';
import { anyText } from './any-text.ts';
import { type Cut, type CutOptions, inPieces, segments } from './pieces.ts';

async function cut(text: string, options: Partial<CutOptions> = {}, size = 65_536): Promise<Cut[]> {
  const all: Cut[] = [];
  for await (const segment of segments(inPieces(text, size), { maxChars: 1000, pace: 'full', ...options })) {
    all.push(segment);
  }
  return all;
}

const texts = async (text: string, options: Partial<CutOptions> = {}) =>
  (await cut(text, options)).map((segment) => segment.text);

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const clustersOf = (text: string) => [...graphemes.segment(text)];
const bare = (text: string) => text.replace(/\s+/gu, '');
const anyOptions = fc.record<CutOptions>({
  maxChars: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 400 })),
  pace: fc.constantFrom('full', 'ramp', 'sentence'),
});

const always = (holds: (text: string, options: CutOptions) => Promise<void>) =>
  fc.assert(fc.asyncProperty(anyText, anyOptions, holds), { numRuns: 30 });

/** It tells where each segment begins and ends in the text. */
function placed(text: string, all: Cut[]): { start: number; end: number }[] {
  let end = 0;
  return all.map((segment) => {
    const start = text.indexOf(segment.text, end);
    end = start + segment.text.length;
    return { start, end };
  });
}

test('Segments joined are the input but for white space.', () =>
  always(async (text, options) => {
    const all = await texts(text, options);
    expect(bare(all.join(''))).toBe(bare(text));
    for (const segment of all) expect(segment).not.toMatch(/^$|\s$/u);
  }));

test('Each segment keeps to the limit, unless it is a single grapheme cluster.', () =>
  always(async (text, options) => {
    for (const segment of await texts(text, options)) {
      if ([...cleaned(segment)].length > options.maxChars) expect(clustersOf(segment)).toHaveLength(1);
    }
  }));

test('A border is not in front of what joins a space, as the vowels of Thai and Lao do that are letters.', async () => {
  for (const vowel of ['\u0e33', '\u0eb3'])
    expect(await texts(`Hello. ${vowel} world.`, { pace: 'sentence' })).toEqual([`Hello. ${vowel} world.`]);
});

test('No border lies inside of a grapheme cluster.', () =>
  always(async (text, options) => {
    const borders = new Set([text.length, ...clustersOf(text).map(({ index }) => index)]);
    for (const { start, end } of placed(text, await cut(text, options))) {
      expect(borders).toContain(start);
      expect(borders).toContain(end);
    }
  }));

test('One character at a time gives the same segments.', () =>
  always(async (text, options) => {
    expect(await cut(text, options, 1)).toEqual(await cut(text, options));
  }));

test('A text longer than the window gives the same segments in pieces of any size.', async () => {
  const text = fc.sample(anyText, { numRuns: 500, seed: 7 }).join(' ').replace(/\n\s*/gu, ' ');
  expect(text.length).toBeGreaterThan(20_000);
  const whole = await cut(text, { maxChars: 300 }, text.length);
  for (const size of [1, 4097]) expect(await cut(text, { maxChars: 300 }, size)).toEqual(whole);
  expect(bare(whole.map((segment) => segment.text).join(''))).toBe(bare(text));
});

const sentence = fc
  .array(fc.constantFrom('Dr. Smith', 'e.g. tea', '3.14', 'мир', '世界', '😀', 'and', '“so”'), {
    minLength: 1,
    maxLength: 9,
  })
  .map((words) => `It is ${words.join(' ')}.`);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 6 });

test('Editing one sentence changes the segments of its paragraph only.', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(paragraph, { minLength: 2, maxLength: 6 }),
      sentence,
      fc.nat(),
      anyOptions.filter(({ maxChars }) => maxChars < 100),
      async (book, edit, place, options) => {
        const edited = place % book.length;
        const other = book.map((all, at) => (at === edited ? [edit, ...all.slice(1)] : all));
        const perParagraph = async (paragraphs: string[][]) => {
          const padded = [...paragraphs.map((all) => all.join(' ')), `It ends${' so'.repeat(40)}.`];
          const groups: string[][] = [];
          for (const { text, startsParagraph } of await cut(padded.join('\n\n'), options)) {
            if (startsParagraph) groups.push([]);
            groups.at(-1)?.push(text);
          }
          return groups;
        };
        const [before, after] = [await perParagraph(book), await perParagraph(other)];
        expect(before).toHaveLength(book.length + 1);
        expect(after.toSpliced(edited, 1)).toEqual(before.toSpliced(edited, 1));
      },
    ),
    { numRuns: 30 },
  ));

test('A text that fits is one segment, as given but for outer white space.', async () => {
  const text = 'CHAPTER I\n\n  It was.  Or\tnot.\n\n\nThe end.';
  const segment = { text, line: 2, startsParagraph: true, index: 0 };
  expect(await cut(` \n${text}\n\n`, { pace: 'full', maxChars: text.length })).toEqual([segment]);
  expect((await cut(text, { pace: 'full', maxChars: cleaned(text).length - 1 })).length).toBeGreaterThan(1);
});

test('The limit counts code points.', async () => {
  expect(await texts('😀'.repeat(20), { maxChars: 20 })).toEqual(['😀'.repeat(20)]);
  expect(await texts('😀'.repeat(21), { maxChars: 20 })).toEqual(['😀'.repeat(20), '😀']);
});

test('No segment spans two paragraphs, and each knows its line.', async () => {
  const text = '\nOne. Two.\n \t\nThree.\nFour.\n\n\nFive.';
  expect(await cut(text, { maxChars: 20 })).toEqual([
    { text: 'One. Two.', line: 2, startsParagraph: true, index: 0 },
    { text: 'Three.\nFour.', line: 4, startsParagraph: true, index: 1 },
    { text: 'Five.', line: 8, startsParagraph: true, index: 2 },
  ]);
});

test('A paragraph without a letter or digit is spoken with its neighbour.', async () => {
  expect(await texts('* * *\n\nOne is one.\n\n* * *\n\nTwo.\n\n***', { maxChars: 22 })).toEqual([
    '* * *\n\nOne is one.',
    '* * *',
    'Two.\n\n***',
  ]);
});

test.each([
  ['sentence', 'One two. Three four five.', 20, ['One two.', 'Three four five.']],
  ['clause', 'One two three, four five six seven', 20, ['One two three,', 'four five six seven']],
  ['word, where a clause would be a fragment', 'So, one two three four', 20, ['So, one two three', 'four']],
  ['word', 'One two three four five six', 20, ['One two three four', 'five six']],
  ['word that ends at the limit', 'abcde fghij', 5, ['abcde', 'fghij']],
  ['Chinese clause', '春天来了，花都开了，很好看', 10, ['春天来了，花都开了，', '很好看']],
  ['Thai word', 'สวัสดีชาวโลก', 8, ['สวัสดี', 'ชาวโลก']],
  ['grapheme cluster', 'abcdefghij👩‍👩‍👧‍👦', 12, ['abcdefghij', '👩‍👩‍👧‍👦']],
  ['grapheme cluster that is too long', 'a👩‍👩‍👧‍👦b', 3, ['a', '👩‍👩‍👧‍👦', 'b']],
])('A text is cut at a %s.', async (_, text, maxChars, expected) => {
  expect(await texts(text, { maxChars })).toEqual(expected);
});

test('When sound should start at once, the first segment is a sentence and the next ones grow.', async () => {
  const text = Array.from({ length: 200 }, () => 'It is a sentence.').join(' ');
  const lengths = (await texts(text, { pace: 'ramp' })).map((segment) => segment.length);
  expect(lengths.slice(0, 5)).toEqual([17, 233, 485, 989, 989]);
});

test('Sentence by sentence, also a short text is cut.', async () => {
  expect(await texts('One. Two.\n\nThree', { pace: 'sentence' })).toEqual(['One.', 'Two.', 'Three']);
});

test.each(['', ' \n\t\n '])('Blank text (%j) has no segments.', async (text) => {
  for (const pace of ['full', 'ramp', 'sentence'] as const) expect(await cut(text, { pace })).toEqual([]);
});

test.each(['word ', '世', '\u0301'])(
  'A long text of nothing but %j takes a moment and little memory.',
  async (unit) => {
    const piece = Buffer.from(unit.repeat(65_536 / unit.length));
    let held = 0;
    async function* pieces() {
      const before = heldMemory();
      // Each piece is a string of its own, as those of a stream are.
      for (let i = 0; i < 8; i++) yield piece.toString();
      held = heldMemory() - before;
    }
    let length = 0;
    await withinSeconds(10, async () => {
      for await (const segment of segments(pieces(), { maxChars: 1000, pace: 'full' }))
        length += bare(segment.text).length;
    });
    expect(length).toBe(8 * bare(piece.toString()).length);
    expect(held).toBeLessThan(400_000);
  },
);
