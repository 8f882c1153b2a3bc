import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingMarkdown, LONGEST_MARKDOWN } from '../../../src/read/markdown.ts';
import type { MarkdownOptions } from '../../../src/read/reading.ts';
import { withinSeconds } from '../../support/clock.ts';
import { inPieces, read } from '../text/pieces.ts';
import { DIALECT, EXAMPLES } from './markdown-examples.ts';

const PLAIN: MarkdownOptions = { code: 'announce', footnotes: 'read' };

const spokenMarkdown = (text: AsyncIterable<string>, options = PLAIN) =>
  read(text, new GrowingMarkdown(options, ''));

async function spoken(markdown: string, options: Partial<MarkdownOptions> = {}, size = 65_536) {
  let text = '';
  for await (const piece of spokenMarkdown(inPieces(markdown, size), { ...PLAIN, ...options })) text += piece;
  return text;
}

test.each([...EXAMPLES, ...DIALECT])('Markdown is read aloud: %s.', async (_, markdown, text) => {
  expect(await spoken(markdown)).toBe(text);
  expect(await spoken(markdown, {}, 1)).toBe(text);
});

test.each([
  ['announce', 'a\n\nCode in js omitted.\n\n1. Code omitted.\n\nCode omitted.\n\nb'],
  ['skip', 'a\n\nb'],
  ['read', 'a\n\nlet *x* = 1;\n\nlet y;\n\n1. # z\n\n> w\n\nb'],
] as const)('With --code %s blocks of code are treated so.', async (code, text) => {
  const markdown =
    'a\n```js {1}\nlet *x* = 1;\n\nlet y;\n```\n\n1.  ~~~\n    # z\n    ~~~\n\n<!-- -->\n\n    > w\n\nb';
  expect(await spoken(markdown, { code })).toBe(text);
});

const many = 10_000;

test.each([
  ['quotes', `${'>'.repeat(many)}deep`, 'deep'],
  ['items on a line', `${'- '.repeat(many)}deep`, 'deep'],
  [
    'items on lines',
    Array.from({ length: 300 }, (_, level) => `${'  '.repeat(level)}- deep`).join('\n'),
    'deep',
  ],
  ['links', `${'['.repeat(many)}deep${'](u)'.repeat(many)}`, 'deep'],
  ['images', `${'!['.repeat(many)}deep${'](u)'.repeat(many)}`, 'deep'],
  ['emphasis', `${'*'.repeat(many)}deep${'*'.repeat(many)}`, 'deep'],
])('Deeply nested %s neither crash nor hang.', (_, markdown, text) =>
  withinSeconds(20, async () => {
    expect(await spoken(markdown)).toContain(text);
  }),
);

test('Any text at all is spoken, and the same however it comes.', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...'#*_`~[]()<>!|-+=:.^\\&1 \t\n\n\nab'), { maxLength: 200, size: 'max' }),
      async (characters) => {
        const markdown = characters.join('');
        expect(await spoken(markdown, { code: 'read' }, 3)).toBe(await spoken(markdown, { code: 'read' }));
      },
    ),
    { numRuns: 150 },
  ));

test('A document that is too long to be read whole is refused.', async () => {
  let pulled = 0;
  async function* endless() {
    for (;;) {
      pulled += 1;
      yield 'a'.repeat(65_536);
    }
  }
  await expect(spokenMarkdown(endless()).next()).rejects.toMatchObject({
    exitCode: 2,
  });
  expect(pulled).toBe(LONGEST_MARKDOWN / 65_536 + 1);
});

test('A paragraph of 100,000 characters is spoken word by word, in parts.', async () => {
  const words = Array.from({ length: 15_000 }, (_, at) => (at % 7 === 0 ? `*w${at}*` : `w${at}`));
  const pieces: string[] = [];
  for await (const piece of spokenMarkdown(inPieces(words.join(' '), 65_536))) pieces.push(piece);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(10_000);
  expect(pieces.join('')).toBe(words.join(' ').replaceAll('*', ''));
});

test('Notes in the text are left out where notes are.', async () => {
  const text = 'He went.^[So they say.] She stayed.';
  expect(await spoken(text, { footnotes: 'skip' })).toBe('He went. She stayed.');
});

test.each([
  ['f_s > 2B', 'f s is greater than 2 B'],
  ['\\frac{1}{2}', '1 over 2'],
  ['\\sqrt{x^2 + 1}', 'square root of x squared plus 1'],
  ['E = mc^2', 'E equals mc squared'],
  ['\\sum_{i=1}^{n} x_i', 'sum from i equals 1 to n of x i'],
  ['\\alpha \\le \\beta\\,\\mathrm{d}x', 'alpha is at most beta d x'],
  ['x^{n-1}', 'x to the power of n minus 1'],
  ['a \\cdot b \\neq 0', 'a times b is not equal to 0'],
])('A formula is read in plain words: %s', async (tex, words) => {
  expect(await spoken(`$${tex}$`, { math: 'read' })).toBe(words);
});
