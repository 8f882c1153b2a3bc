import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Controls } from '../../../src/read/decode.ts';
import { through } from '../../../src/text/stage.ts';
import { inPieces } from '../text/pieces.ts';

async function clean(text: string, ...sizes: readonly number[]): Promise<string> {
  let all = '';
  for await (const piece of through(
    inPieces(text, ...(sizes.length > 0 ? sizes : [text.length])),
    new Controls(),
  ))
    all += piece;
  return all;
}

describe('a text with control characters', () => {
  it.each([
    ['colours', '\x1b[1;31mError:\x1b[0m no route', 'Error: no route'],
    ['a link', '\x1b]8;;https://example.com\x1b\\here\x1b]8;;\x1b\\', 'here'],
    ['a title', '\x1b]0;make\x07done', 'done'],
    ['codes of eight bits', '\x9b1mbold\x9b0m', 'bold'],
    ['bells and backspaces', 'a\x07b\x08c\x7f', 'abc'],
    ['line ends, tabs and page ends', 'a\n\tb\r\nc\fd', 'a\n\tb\r\nc\fd'],
    ['joiners and other scripts', '👩‍💻 ไทย عربى', '👩‍💻 ไทย عربى'],
    ['an escape that never ends', '\x1b]0;no end', ']0;no end'],
    ['an escape at the end', 'end\x1b[3', 'end[3'],
  ])('loses them: %s', async (_name, text, expected) => {
    expect(await clean(text)).toBe(expected);
  });

  it('reads the same in any pieces', async () => {
    const parts = fc.constantFrom(
      '\x1b[1;31m',
      '\x1b]0;t\x07',
      '\x1b]8;;u\x1b\\',
      '\x1b(B',
      '\x9b0m',
      'word ',
      '\n',
      '😀',
      '\x07',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(parts),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (all, sizes) => {
          const text = all.join('');
          expect(await clean(text, ...sizes)).toBe(await clean(text));
        },
      ),
    );
  });

  it('holds back no more than a kilobyte', async () => {
    async function* endless() {
      yield '\x1b]';
      for (let count = 0; count < 10; count += 1) yield 'x'.repeat(1000);
    }
    let first = 0;
    for await (const piece of through(endless(), new Controls())) {
      first = piece.length;
      break;
    }
    expect(first).toBeGreaterThan(0);
  });
});
