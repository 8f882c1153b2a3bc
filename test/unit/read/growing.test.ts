import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingMarkdown } from '../../../src/read/markdown.ts';
import { type Piece, writtenOf } from '../../../src/text/piece.ts';
import { WAITS } from '../../../src/text/stage.ts';
import { withinSeconds } from '../../support/clock.ts';
import { EXAMPLES } from './markdown-examples.ts';
import { cutInto } from './spoken.ts';

/**
 * A sentence or an item that is given out early ends with a line break. The first items of a list do not know whether an empty
 * line comes between later ones.
 */
function comparable(said: string, markdown: string): string {
  if (/^[ >]*(?:[-+*]|\d+[.)])(?:\s|$)/mu.test(markdown)) return said.split(/\s+/u).join(' ').trim();
  return said.trim().replace(/\s*\n\s*\n\s*|\s+/gu, (gap) => (/\n\s*\n/u.test(gap) ? '\n\n' : ' '));
}

/** What is spoken of a document in pieces, each of which gives out what is complete after these waits. */
function grown(pieces: readonly string[], waits = [0]): string {
  const markdown = new GrowingMarkdown({ code: 'read', footnotes: 'read' }, '');
  const grow = (piece: string) => {
    markdown.push(piece);
    return waits.flatMap((idle) => [...markdown.flush(idle)]);
  };
  const said = [...pieces.flatMap(grow), ...markdown.end()].map(writtenOf).join('');
  return comparable(said, pieces.join(''));
}

const atOnce = (markdown: string) => grown([markdown], []);

/** References that are defined after their use are spoken otherwise. */
const isDefined = (markdown: string) => !/\]:/u.test(markdown);

/** A sentence in the head of a table is taken for one of a paragraph. */
const hasSentenceInTable = (markdown: string) => /\d[.)] .*\|/u.test(markdown);

const bits = fc.constantFrom(
  ...['# ', '- ', '  ', '    ', '1. ', '> ', '**', '\n', '\n', '\n\n', '\n\n', 'word', ' so', '***\n'],
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
        fc.pre(!hasSentenceInTable(markdown));
        expect(grown(cutInto(size, markdown))).toBe(atOnce(markdown));
      },
    ),
    { numRuns: 100 },
  ));

const prose = fc.constantFrom(
  ...['- ', '  ', '1. ', '> ', '# ', '**', '*', '_', '\n', '\n', '\n\n', 'word', ' so', '. And', '! ', ': '],
);

test('Whatever is given out while its writer waits, no word is lost, changed or said twice.', () =>
  fc.assert(
    fc.property(
      fc.array(prose, { maxLength: 60, size: 'max' }),
      fc.integer({ min: 1, max: 40 }),
      (all, size) => {
        const markdown = `word\n\n${all.join('')}`;
        const bare = (said: string) => said.replace(/[^\p{L}]+/gu, '');
        expect(bare(grown(cutInto(size, markdown), [0, WAITS.doubtful]))).toBe(bare(atOnce(markdown)));
      },
    ),
    { numRuns: 100 },
  ));

test.each(EXAMPLES.filter(([, markdown]) => isDefined(markdown)))(
  'Markdown is spoken letter by letter as at once: %s',
  (_, markdown) => {
    expect(grown([...markdown])).toBe(atOnce(markdown));
  },
);

test('Front matter is waited for to its end, and only at the start.', () => {
  const markdown = new GrowingMarkdown({ code: 'skip', footnotes: 'read' }, '');
  const say = (piece: string) => {
    markdown.push(piece);
    return [...markdown.flush(0)].map(writtenOf).join('');
  };
  expect(say('---\ntitle: no\n\n')).toBe('');
  expect(say('more: no\n---\n# Yes\n\n')).toBe('Yes.\n\n');
  expect(say('---\nnote: yes\n\n').trim()).toBe('note: yes');
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
])('40 kB of %s, piece by piece, take no time in the square of their length.', async (_, line) => {
  const lines = Array.from({ length: 4000 }, (_, number) => line(number));
  await withinSeconds(10, () => {
    expect(grown(cutInto(400, lines.join(''))).length).toBeGreaterThan(35_000);
  });
});

test.each([
  ['One sentence. And', 'One sentence.'],
  ['One sentence. And so', 'One sentence. And'],
  ['Some *marked* words. And', 'Some marked words.'],
  ['A **bold** and __strong__ or ***both*** word. And', 'A bold and strong or both word.'],
  ['An *open mark. And', 'An'],
  ['An **open mark. And', 'An'],
  ['A [link](u) here. Then `code. x` is. So', 'A link here. Then code. x is.'],
  ['A [link that. Is', 'A'],
  ['First. 2. Second', 'First. 2.'],
  ['Costs $5 or $6 a day', 'Costs $5 or $6 a'],
  ['So $x + 1$ is $y +', 'So formula is'],
  ['A <b>tag</b> here. And 5 < 6 so', 'A tag here. And 5 < 6'],
  ['- An item. And', 'An item.'],
  ['> A quote. And', 'A quote.'],
  ['Read a || b', ''],
  ['Read `a || b` or', 'Read a || b'],
  ['# A heading. And', ''],
  ['# A heading\nAnd so', 'A heading.\n\nAnd'],
  ['```js\nx\n```\n', 'x\n\n'],
  ['| a | b |\n|-|-|\n| 1 | 2 |\n| 3', 'a: 1, b: 2.\n'],
  ['你好，世界。这', '你好，世界。这'],
])('Of a document that grows, words without an open mark come out: %j', (text, expected) => {
  const markdown = new GrowingMarkdown({ code: 'read', footnotes: 'read' }, '');
  markdown.push(text);
  const early = [...markdown.flush(0)].map(writtenOf).join('');
  expect(early.trimEnd()).toBe(expected.trimEnd());
  markdown.push(' more.\n\nNext.');
  const rest = [...markdown.flush(0), ...markdown.end()].map(writtenOf).join('');
  const all = `${text} more.\n\nNext.`;
  expect(comparable(early + rest, all)).toBe(atOnce(all));
});

test.each([
  ['Let me *look*.', 500, 'Let me look.', ' Found it.\n\nNext.'],
  ['Let me look. ', 500, 'Let me look.', '- dashed.\n\nNext.'],
  ['Let me look.', 500, 'Let me look.', '\n- item\n\nNext.'],
  ['A snake_case times 2 * 3.', 2000, 'A snake_case times 2 * 3.', ' So.'],
  ['Version 3.', 500, 'Version 3.', '14159 is there.'],
  ['Version 3.', 2000, 'Version 3.', ' Next.'],
  ['An **open mark.', 2000, 'An', ' Closed**.'],
  ['Here they are:', 1000, 'Here they are:', '\n\n- item'],
  ['- one\n- two\n', 0, 'one.\ntwo', '- three\n'],
  ['- one\n- two\n', 1000, 'one.\ntwo.', '    - deeper\n- three\n\nNext.'],
  ['9. one\n10. two\n', 1000, '9. one.\n10. two.', '11. three\n'],
  ['- one\n\n- two\n', 0, 'one.\n\ntwo', '\n- three\n'],
  ['* *one*\n* *two\n', 1000, 'one.', '  end*\n'],
  ['- one\n- tw', 1000, 'one.\ntw', 'o\n- three\n'],
  ['- one\n- ```\n  code\n', 2000, 'one.', '  ```\n'],
  ['> quoted. And\n', 2000, 'quoted. And', '> more\n'],
  ['| a | b |\n|-|-|\n| 1 | 2 |\n', 2000, 'a: 1, b: 2.', '| 3 | 4 |\n'],
])(
  'After a wait, what is complete comes out, and the rest joins it: %j, %d ms',
  (text, idle, given, more) => {
    const markdown = new GrowingMarkdown({ code: 'read', footnotes: 'read' }, '');
    markdown.push(text);
    const early = [...markdown.flush(0), ...markdown.flush(idle)].map(writtenOf).join('');
    expect(early.trim()).toBe(given);
    markdown.push(more);
    const rest = [...markdown.flush(0), ...markdown.end()].map(writtenOf).join('');
    expect(comparable(early + rest, text + more)).toBe(atOnce(text + more));
  },
);

const DOCUMENT = [
  '---\ntitle: No\n---\n\n# Heading\n\n',
  'A sentence. And\nanother one.\n\n',
  '- item\n- second\n\n',
  '| a | b |\n|---|---|\n| c | d |\n\n',
  'The end.',
];

const EXPECTED = [
  [5, 'Heading.'],
  [7, 'A sentence.'],
  [10, 'item.'],
  [11, 'second.'],
  [15, 'a: c, b: d.'],
  [17, 'The end.'],
];

/** The line and the beginning of what is spoken of each block. */
function linesOf(pieces: readonly Piece[]) {
  const said = new Map<number | undefined, string>();
  for (const piece of pieces)
    if (piece.kind === 'text') said.set(piece.place.line, (said.get(piece.place.line) ?? '') + piece.text);
  const spoken = [...said].filter(([, text]) => text.trim() !== '');
  return spoken.map(([line, text]) => [line, /^(?:A sentence\.|.*)/u.exec(text.trim())?.[0]]);
}

test('Each block of a document has the line in which it begins, whatever has left before.', () => {
  const whole = new GrowingMarkdown({ code: 'read', footnotes: 'read' }, 'a.md');
  whole.push(DOCUMENT.join(''));
  expect(linesOf([...whole.end()])).toEqual(EXPECTED);
  const markdown = new GrowingMarkdown({ code: 'read', footnotes: 'read' }, 'a.md');
  const pieces = DOCUMENT.flatMap((part) => [
    ...markdown.push(part),
    ...markdown.flush(0),
    ...markdown.flush(WAITS.doubtful),
  ]);
  expect(linesOf([...pieces, ...markdown.end()])).toEqual(EXPECTED);
});
