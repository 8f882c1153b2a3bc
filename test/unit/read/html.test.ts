import { describe, expect, it } from 'vitest';
import { openHtml, Page } from '../../../src/read/html.ts';
import type { HtmlOptions } from '../../../src/read/reading.ts';
import { wordsSource } from '../../../src/read/source.ts';
import { written } from './spoken.ts';

const { signal } = new AbortController();

const PLAIN: HtmlOptions = {
  speaksReadings: false,
  readsNotes: false,
};

/** The text of a page that comes in pieces of this size. */
function read(html: string, options: Partial<HtmlOptions> = {}, size = html.length): Promise<string> {
  const page = new Page('page.html', { ...PLAIN, ...options });
  return written(
    (function* () {
      for (let at = 0; at < html.length; at += size) yield* page.push(html.slice(at, at + size));
      yield* page.end();
    })(),
  ).then((text) => text.trim());
}

/** Blocks of one container. */
function blocksOf(lines: readonly string[], element = 'div'): string {
  return `<section>${lines.map((line) => `<${element}>${line}</${element}>`).join('\n')}</section>`;
}

describe('verse in HTML', () => {
  const stanza = [
    'April is the cruellest month, breeding',
    'Lilacs out of the dead land, mixing',
    'Memory and desire, stirring',
    'Dull roots with spring rain.',
    'Winter kept us warm, covering<span class="n">5</span>',
    'Earth in forgetful snow.',
  ];
  const spoken = stanza.join(' ').replace(/<.*>/, '');

  it.each(['div', 'p'])(
    'is one paragraph a stanza, without the numbers of its lines: %s',
    async (element) => {
      const html = `${blocksOf(stanza, element)}${blocksOf(stanza, element)}<p>And then prose.</p>`;
      for (const size of [html.length, 7])
        expect(await read(html, {}, size)).toBe(`${spoken}\n\n${spoken}\n\nAnd then prose.`);
    },
  );

  it('may have two lines after lines with numbers', async () => {
    const lines = ['I think we are in rats’ alley', 'Where the dead men lost their bones.'];
    expect(await read(blocksOf(stanza) + blocksOf(lines))).toBe(`${spoken}\n\n${lines.join(' ')}`);
    expect(await read(blocksOf(lines))).toBe(lines.join('\n\n'));
  });

  it('has no number of a line in a paragraph of lines', async () => {
    expect(await read(`<p>${stanza.join('<br/>')}</p>`)).toBe(stanza.join('\n').replace(/<.*>/, ''));
  });

  it('goes on where the numbers of its lines do', async () => {
    const lines = ['Nothing again nothing<i>10</i>', 'Twit', 'twit'];
    expect(await read(blocksOf(stanza) + blocksOf(['Jug jug.', ...lines]))).toBe(
      `${spoken}\n\nJug jug.\n\nNothing again nothing Twit twit`,
    );
  });

  it.each([
    ['an address', ['John Smith,', '12 High Street,', 'London,', 'England.']],
    ['a dialogue', ['“Who is there?”', '“It is only me,” he said.', '“Come in, then.”', 'He came in.']],
    ['items', ['Two cups of flour', 'One large egg', 'A pinch of salt', 'Half a litre of milk']],
    ['titles', ['Why we left the old house', 'What happened next?', 'How to light a lamp']],
    ['a letter', ['Dear Bob,', 'thank you for the lamp.', 'Yours,', 'Ann']],
    ['short paragraphs', ['It rained all day.', 'We stayed in the house and read.', 'Then it stopped.']],
    ['a table of contents', ['The lamp<span>5</span>', 'The night<span>20</span>', 'The end<span>35</span>']],
    ['a word and a sentence about it', ['FAIL', 'If the paragraph above reads "FAIL", the test fails.']],
    ['long lines', [`It was dark, and ${'so '.repeat(30)}`.trim(), 'and then,', 'there was nothing.']],
  ])('is not %s', async (_, lines) => {
    expect(await read(blocksOf(lines, 'p'))).toBe(lines.join('\n\n').replace(/<\/?span>/g, ''));
  });
});

describe('HTML', () => {
  it.each([
    ['paragraphs', '<p>One</p><p>Two', 'One\n\nTwo'],
    ['text without a paragraph', 'One<div>Two</div>Three', 'One\n\nTwo\n\nThree'],
    ['a heading ends', '<h1>The <i>end</i></h1><p>Text', 'The end.\n\nText'],
    ['a heading of two lines', '<h1>The<br>end</h1>', 'The\nend.'],
    ['a heading that holds blocks', '<h2><div>One</div><div>Two</div></h2>', 'One\nTwo.'],
    ['items end', '<ul><li>a</li><li>b!</li></ul>', 'a.\nb!'],
    ['a list of descriptions', '<dl><dt>a<dd>b</dl>', 'a.\nb.'],
    ['tables by rows', '<table><tr><td>a<td>b<tr><td>c<td>d</table>', 'a, b.\nc, d.'],
    ['a cell of two paragraphs', '<table><tr><td><p>a</p><p>b</p><td>c</table>', 'a.\nb.\nc.'],
    ['a table in a table', '<table><tr><td>a<table><tr><td>b</table><td>c</table>', 'a.\nb.\nc.'],
    ['parts of a word', 'M<sup>me</sup> H<sub>2</sub>O wo<b>r</b>d', 'Mme H2O word'],
    ['what hides in a word', 'hy&shy;phen zero\u200bwidth\ufeff', 'hyphen zerowidth'],
    ['joiners', 'auf\u200clage \u0645\u06cc\u200c\u062e', 'auflage \u0645\u06cc\u200c\u062e'],
    ['spaces', 'a\n  b&nbsp;&nbsp;c', 'a b c'],
    ['line breaks', 'a<br/>b<br>\n<br>c', 'a\nb\n\nc'],
    ['lines that count', '<pre>a\n  b</pre>', 'a\nb'],
    ['pictures', '<p>A <img alt="cat">here<img alt=""></p><img alt="Two cats">', 'A cat here\n\nTwo cats'],
    ['a picture before a comma', '<p>A <img alt="cat"/>, (<img alt="B c"/>).</p>', 'A cat, (B c).'],
    ['a picture that decorates', 'a<img alt="x y" role="presentation"> b', 'a b'],
    ['a picture of one letter', '<p><img alt="T"/>he end</p>', 'The end'],
    ['a picture of one letter in a block', '<div><img alt="T"></div><p> he end</p>', 'The end'],
    ['a picture of one letter after a quotation mark', '<p>“<img alt="T"/>he end”</p>', '“The end”'],
    ['a large first letter in a block', '<div class="dropcap">T</div><p>he end</p>', 'The end'],
    ['a picture of a word', '<p><img alt="A"/> long way</p>', 'A long way'],
    ['a large first letter', '<p><span class="drop-cap">W</span> <small>hen</small></p>', 'When'],
    ['rubies', '<ruby>漢<rp>(</rp><rt>かん</rt>字<rt>じ</rt></ruby>', '漢字'],
    ['lines of Japanese', '<p>漢字\n  かな</p>', '漢字かな'],
    ['formulas', 'a<math alttext="x = 1"><mi>x</mi></math>b <math><mi>y</mi></math>', 'a x = 1 b formula'],
    [
      'what nobody sees',
      'a<span hidden>b</span><i style="display: none">c</i><b aria-hidden="true">d</b>',
      'a',
    ],
    [
      'no text of a page',
      '<script>x</script><style>y</style><template>z</template><svg><text>t</text></svg>a',
      'a',
    ],
    [
      'page numbers',
      'a<span epub:type="pagebreak">3</span><i role="doc-pagebreak">4</i><b class="pagenum">5</b>',
      'a',
    ],
    [
      'page numbers by the name of the page',
      '<span id="page_iv">iv</span>a <a name="Page12">[Pg 12]</a>b<span id="page_2">two</span>',
      'a btwo',
    ],
    [
      'links to a heading itself',
      '<h1>a<a href="#a">¶</a></h1><h2>b <a href="#b">§</a></h2><p>c<a href="#c">#</a> <a href="#d">#d</a></p>',
      'a.\n\nb.\n\nc #d',
    ],
    [
      'links that edit a section',
      '<h2>a</h2><span class="mw-editsection">[<a href="/w/index.php">edit</a>]</span><p>b</p>',
      'a.\n\nb',
    ],
    ['scene breaks', '<p>a</p><hr/><p>* * *</p><p>b</p>', 'a\n\nb'],
    ['an empty title', '<title/><p>a</p>', 'a'],
    ['empty elements', '<p/>a<div/>b', 'a\n\nb'],
    ['characters by number', '&#x41;&eacute;&#27;[1m', 'Aé[1m'],
    ['CDATA', '<p><![CDATA[a < b]]></p>', 'a < b'],
    ['prefixes', '<h:p>a</h:p><h:p>b</h:p>', 'a\n\nb'],
    [
      'names in a play',
      '<table><tr><td epub:type="z3998:persona">Hamlet.</td><td>To be</td></tr></table><p epub:type="z3998:persona">Ghost</p><p>Mark me.</p><p><b epub:type="z3998:persona">All</b> Ha!</p>',
      'Hamlet: To be.\n\nGhost: Mark me.\n\nAll: Ha!',
    ],
    ['an initial at the end', '<p><img alt="T"/></p>', 'T'],
  ])('is read: %s', async (_, html, expected) => {
    expect(await read(html)).toBe(expected);
    expect(await read(html, {}, 1)).toBe(expected);
  });

  it('speaks readings in kana where they are asked for', async () => {
    const html = '<ruby><rb>憂鬱</rb><rt>ゆううつ</rt></ruby>な<ruby>時<rt>time</rt></ruby>';
    expect(await read(html, { speaksReadings: true })).toBe('ゆううつな時');
  });

  it.each([
    ['main', 'a<header>b</header><main>c</main><p>d</p>', 'c'],
    ['main by its role', '<div>a</div><div role="main">c</div>', 'c'],
    ['an article', 'a<article>b</article>c', 'b'],
    ['articles', 'a<article>b</article><article>c</article>', 'a\n\nb\n\nc'],
    ['the body', '<nav>a</nav><aside>b</aside><div role="navigation">c</div>d<footer>e</footer>', 'd'],
    ['an empty main', '<main id="root"></main><p>a</p>', 'a'],
    ['no form', 'a<form>b <button>c</button></form>', 'a'],
    ['a form around all of it', '<form><p>a</p></form>', 'a'],
    ['main in a form', '<form>x<main>a</main></form>', 'a'],
  ])('of a web page is its text: %s', async (_, html, expected) => {
    expect(await read(html)).toBe(expected);
  });

  it('gives main out while it comes', () => {
    const page = new Page('', PLAIN);
    expect([...page.push('<nav>x</nav><main><p>One.</p><p>Two')].length).toBeGreaterThan(0);
  });

  it('has a limit for elements inside each other', async () => {
    await expect(read('<b>'.repeat(100_000))).rejects.toThrow('more than 512 elements inside each other');
    expect(await read('<p>a</p></i>'.repeat(1000))).toHaveLength(1000 * 3 - 2);
  });

  it('gives a long paragraph out in parts', async () => {
    const words = Array.from({ length: 20_000 }, (_, at) => `word${at}`).join(' ');
    expect(await read(`<main><p>${words}</p></main>`, {}, 1000)).toBe(words);
  });

  it('reads the cells of a long row in their order', async () => {
    const words = Array.from({ length: 9000 }, (_, at) => `word${at}`);
    const paragraphs = words.map((word) => `<p>${word}</p>`).join('');
    const html = (cell: string) => `<table><tr><td>first<td>${cell}<td>last</table>`;
    for (const [cell, size] of [
      [paragraphs, paragraphs.length],
      [words.join(' '), 1000],
    ] as const)
      expect((await read(html(cell), {}, size)).match(/\w+/gu)).toEqual(['first', ...words, 'last']);
  });

  it('knows the line of each block', () => {
    const page = new Page('page.html', PLAIN);
    const lines = [];
    for (const pieces of [page.push('<main>\n\n<p>a</p>\n<p>b'), page.push('\n</p>\n\n<p>c'), page.end()])
      for (const piece of pieces) if (piece.kind === 'text') lines.push([piece.text, piece.place.line]);
    expect(lines).toEqual([
      ['a', 3],
      ['b', 4],
      ['c', 7],
    ]);
  });
});

interface NotesRead {
  readonly text: string;
  readonly remarks: readonly string[];
}

async function readNotes(html: string, readsNotes: boolean, isPipe = false): Promise<NotesRead> {
  const options = { speaksReadings: false, readsNotes };
  const { bytes, ...source } = wordsSource(html);
  const file = { ...source, bytes, words: undefined, again: isPipe ? undefined : bytes };
  const remarks: string[] = [];
  const reading = await openHtml(file as never, options, signal);
  const text = await written(reading.pieces(signal, { onRemark: (remark) => remarks.push(remark) }));
  return { text: text.trim(), remarks };
}

describe('a note', () => {
  it.each([
    [
      'by its meaning',
      '<p>A<a epub:type="noteref" href="#n">1</a> b.</p><aside epub:type="footnote" id="n">Note.</aside>',
    ],
    [
      'by its role',
      '<p>A<a role="doc-noteref" href="#n"><sup>1</sup></a> b.</p><p role="doc-footnote" id="n">Note.</p>',
    ],
    [
      'by its place, with a link back',
      '<p>A<a id="r" href="#x7">1</a> b.</p><p id="x7"><a href="#r">1</a> Note.</p>',
    ],
    [
      'by its place, with a link back to what is around the reference',
      '<p>A<sup id="r"><a href="#x7">[1]</a></sup> b.</p><ol><li id="x7"><p>Note. <a href="#r">↩</a></p></li></ol>',
    ],
    [
      'by its sign, with a link back in front of it',
      '<p>A<a id="r" href="#x7">*</a> b.</p><p id="x7">* <a href="#r">↩\ufe0e</a> Note.</p>',
    ],
    ['by the same sign', '<p>A<a href="#x7">†</a> b.</p><p><a id="x7"></a>† Note.</p>'],
    ['by the same number', '<p>A<sup><a href="#x7">*</a></sup> b.</p><p><a id="x7"></a>* Note.</p>'],
  ])('is left out, or read where it is referred to: %s', async (_, html) => {
    expect(await readNotes(html, false)).toEqual({
      text: 'A b.',
      remarks: ['1 note is not read; --footnotes read reads it where it is referred to'],
    });
    expect(await readNotes(html, true)).toEqual({ text: 'A (Note) b.', remarks: [] });
  });

  it('is read at the first of its references only, and no reference is spoken', async () => {
    const reference = '<a href="#n"><sup>1</sup></a>';
    const html = `<p>A${reference} b${reference}.</p><p>C${reference}.</p><p id="n">1 Note.</p>`;
    expect(await readNotes(html, true)).toEqual({ text: 'A (Note) b.\n\nC.', remarks: [] });
    expect((await readNotes(html, false)).text).toBe('A b.\n\nC.');
  });

  it.each([
    ['powers', 'πr<sup>2</sup> and XX<sup>e</sup>', 'πr2 and XXe'],
    [
      'a link to a chapter',
      '<p>See <a href="#c">3</a>.</p><h2 id="c">3</h2><p>Text</p>',
      'See 3.\n\n3.\n\nText',
    ],
    [
      'numbers of verses',
      '<p id="top"><a href="#v1">1</a> <a href="#v2">2</a></p><p id="v1"><a href="#top">1</a> One</p><p id="v2">2 Two</p>',
      '1 2\n\n1 One\n\n2 Two',
    ],
    ['a linked word', '<p>The <a epub:type="noteref" href="#n">Emperor</a></p>', 'The Emperor'],
  ])('is not what only looks like one: %s', async (_, html, text) => {
    expect(await readNotes(html, false)).toEqual({ text, remarks: [] });
  });

  it('after a sentence is a sentence', async () => {
    const html = '<p>A.<a role="doc-noteref" href="#n">1</a> B.</p><p id="n" role="doc-footnote">1. Note</p>';
    expect((await readNotes(html, true)).text).toBe('A. Note. B.');
  });

  it('of a page from a pipe is known by its name, and read where it stands', async () => {
    const html = '<p>A<sup><a href="#fn1">1</a></sup> b.</p><p id="fn1">Note.</p>';
    expect((await readNotes(html, false, true)).text).toBe('A b.');
    expect((await readNotes(html, true, true)).text).toBe('A b.\n\nNote.');
  });
});
