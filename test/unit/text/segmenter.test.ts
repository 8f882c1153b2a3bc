import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cleaned } from '../../../src/text/clean.ts';
import { anyText } from './any-text.ts';
import { type CutOptions, cutOf, plainPieces, segmenterOf } from './pieces.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const bare = (text: string) => text.replace(/\s+/gu, '');

/** A text in pieces, after each of which all is given out that can be. */
function flushed(pieces: readonly string[], options: CutOptions): string[] {
  const segmenter = segmenterOf(options);
  const pieceOf = plainPieces();
  const all = pieces.flatMap((piece) => [...segmenter.push(pieceOf(piece)), ...segmenter.flush(0)]);
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
    { numRuns: 1000 },
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
    { numRuns: 1000 },
  ));
