import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cleaned } from '../../../src/text/unicode.ts';
import { anyText } from './any-text.ts';
import { type CutOptions, cutOf, cutterOf, inTime, plainPieces } from './pieces.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const bare = (text: string) => text.replace(/\s+/gu, '');

/** A text in pieces, after each of which all is given out that can be. */
function flushed(pieces: readonly string[], options: CutOptions): string[] {
  const segmenter = cutterOf(options);
  const pieceOf = plainPieces();
  const all = pieces.flatMap((piece) => [...segmenter.push(pieceOf(piece)), ...segmenter.flush(0)]);
  return [...all, ...segmenter.end()].map((item) => cutOf(item).text);
}

/** A text in pieces, without waits. */
function atOnce(pieces: readonly string[], options: CutOptions): string[] {
  const segmenter = cutterOf(options);
  const pieceOf = plainPieces();
  const all = pieces.flatMap((piece) => [...segmenter.push(pieceOf(piece))]);
  return [...all, ...segmenter.end()].map((item) => cutOf(item).text);
}

const anyPieces = fc
  .tuple(anyText, fc.integer({ min: 1, max: 40 }))
  .map(([text, size]) => text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? []);
const anyOptions = fc.record<CutOptions>({
  maxChars: fc.integer({ min: 1, max: 100 }),
  pace: fc.constantFrom('full', 'ramp', 'sentence'),
});

test('Text that is given out as it comes is whole, in order, and within the limit.', () =>
  fc.assert(
    fc.property(anyPieces, anyOptions, (pieces, options) => {
      const text = pieces.join('');
      const all = flushed(pieces, options);
      const said = bare(all.join(''));
      expect(bare(text).startsWith(said)).toBe(true);
      // Marks that come after their sentence was given out stay unsaid.
      expect(bare(text).slice(said.length)).not.toMatch(/[\p{L}\p{N}]/u);
      for (const segment of all)
        if ([...cleaned(segment)].length > options.maxChars)
          expect([...graphemes.segment(segment)]).toHaveLength(1);
    }),
    { numRuns: 60 },
  ));

test('No segment of it begins inside of a grapheme cluster.', () =>
  fc.assert(
    fc.property(anyPieces, anyOptions, (pieces, options) => {
      const text = pieces.join('');
      const borders = new Set([...graphemes.segment(text)].map(({ index }) => index));
      let end = 0;
      for (const segment of flushed(pieces, options)) {
        const start = text.indexOf(segment, end);
        expect(borders, JSON.stringify({ text, segment })).toContain(start);
        end = start + segment.length;
      }
    }),
    { numRuns: 60 },
  ));

const INVISIBLE = [
  '\u00ad',
  '\u200b',
  '\u200c',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\u0301',
  '\ufe0f',
  '\u{e0100}',
];
const BLANK = [' ', '\n', '\t', '\f', '\u00a0', '\u2028', '\n\n', ' \u0301'];
const WORDS = ['Hello. ', 'a', 'world, ', '中。', '😀'];

/** Longer than a window, and of few kinds of characters. */
const longRuns = fc.array(
  fc.tuple(
    fc
      .array(fc.constantFrom(...INVISIBLE, ...BLANK, ...WORDS), { minLength: 1, maxLength: 3 })
      .map((units) => units.join('')),
    fc.constantFrom(1, 500, 17_000),
  ),
  { minLength: 1, maxLength: 3 },
);

test.each(['full', 'heard'] as const)(
  'A long text of any few characters comes to its end at pace "%s".',
  (pace) => {
    const words = (all: string) => all.replace(/[^\p{L}\p{N}]/gu, '');
    fc.assert(
      fc.property(
        longRuns,
        fc.constantFrom(50, 1000),
        fc.constantFrom(4096, 100_000),
        fc.boolean(),
        (runs, maxChars, size, isLive) => {
          const text = runs
            .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length))
            .join('');
          const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
          const cut = isLive ? flushed : atOnce;
          const said = inTime(20, () => cut(pieces, { maxChars, pace }));
          expect(words(said.join('')) === words(text)).toBe(true);
        },
      ),
      {
        numRuns: 4,
        examples: INVISIBLE.map((sign) => {
          const runs: [string, number][] = [
            ['Hello. ', 7],
            [sign, 17_000],
          ];
          return [runs, 1000, 4096, sign > '\u2000'];
        }),
      },
    );
  },
);
