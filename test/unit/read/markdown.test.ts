import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingMarkdown, LONGEST_MARKDOWN } from '../../../src/read/markdown.ts';
import type { MarkdownOptions } from '../../../src/read/reading.ts';
import { readerOf } from '../../../src/run/readers.ts';
import { withinSeconds } from '../../support/clock.ts';
import { inPieces, read } from '../text/pieces.ts';
import { EXAMPLES } from './markdown-examples.ts';

const spokenMarkdown = (text: AsyncIterable<string>, options: MarkdownOptions) =>
  read(text, new GrowingMarkdown(options, ''));

async function spoken(markdown: string, code: MarkdownOptions['code'] = 'announce', size = 65_536) {
  let text = '';
  for await (const piece of spokenMarkdown(inPieces(markdown, size), { code, footnotes: 'read' }))
    text += piece;
  return text;
}

test.each(EXAMPLES)('Markdown is read aloud: %s.', async (_, markdown, text) => {
  expect(await spoken(markdown)).toBe(text);
  expect(await spoken(markdown, 'announce', 1)).toBe(text);
});

test.each([
  ['announce', 'a\n\nCode in js omitted.\n\n1. Code omitted.\n\nCode omitted.\n\nb'],
  ['skip', 'a\n\nb'],
  ['read', 'a\n\nlet *x* = 1;\n\nlet y;\n\n1. # z\n\n> w\n\nb'],
] as const)('With --code %s blocks of code are treated so.', async (code, text) => {
  const markdown =
    'a\n```js {1}\nlet *x* = 1;\n\nlet y;\n```\n\n1.  ~~~\n    # z\n    ~~~\n\n<!-- -->\n\n    > w\n\nb';
  expect(await spoken(markdown, code)).toBe(text);
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
        expect(await spoken(markdown, 'read', 3)).toBe(await spoken(markdown, 'read'));
      },
    ),
    { numRuns: 150 },
  ));

test('Of plain words none is lost, wherever they stand.', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.constantFrom('# ', '- ', '  ', '1. ', '> ', '**', '\n', '\n\n', ' word ', '***\n', '| ', '~~~\n'),
        {
          maxLength: 60,
          size: 'max',
        },
      ),
      async (bits) => {
        const said = await spoken(bits.join(''), 'read');
        expect(said.split('word').length).toBe(bits.join('').split('word').length);
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
  await expect(spokenMarkdown(endless(), { code: 'skip', footnotes: 'read' }).next()).rejects.toMatchObject({
    exitCode: 2,
  });
  expect(pulled).toBe(LONGEST_MARKDOWN / 65_536 + 1);
});

const settingsOf = (format: 'text' | 'markdown' | 'auto') => {
  const origin = { place: 'default', name: 'the default' } as const;
  return {
    format: { value: format, origin },
    code: { value: 'skip', origin },
    footnotes: { value: 'skip', origin },
    math: { value: 'skip', origin },
    chapters: undefined,
    split: undefined,
    output: undefined,
    encode: undefined,
    pauses: undefined,
    titles: { value: true, origin },
    all: { value: false, origin },
    ruby: { value: 'base', origin },
  } as const;
};

test.each([
  ['a.md', 'auto', 'markdown'],
  ['/x/README.MARKDOWN', 'auto', 'markdown'],
  ['a.mkd', 'auto', 'markdown'],
  ['a.txt', 'auto', 'text'],
  ['a.md.txt', 'auto', 'text'],
  ['md', 'auto', 'text'],
  ['-', 'auto', 'text'],
  ['-', 'markdown', 'markdown'],
  ['a.md', 'text', 'text'],
] as const)('%s with --format %s is %s.', (name, format, expected) => {
  expect(readerOf(name, settingsOf(format)).kind).toBe(expected);
});

test('A paragraph of 100,000 characters is spoken word by word, in parts.', async () => {
  const words = Array.from({ length: 15_000 }, (_, at) => (at % 7 === 0 ? `*w${at}*` : `w${at}`));
  const pieces: string[] = [];
  for await (const piece of spokenMarkdown(inPieces(words.join(' '), 65_536), {
    code: 'read',
    footnotes: 'read',
  }))
    pieces.push(piece);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(10_000);
  expect(pieces.join('')).toBe(words.join(' ').replaceAll('*', ''));
});
