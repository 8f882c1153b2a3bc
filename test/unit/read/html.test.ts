import { describe, expect, it } from 'vitest';
import { openHtml, Page } from '../../../src/read/html.ts';
import type { HtmlOptions } from '../../../src/read/reading.ts';
import { fileOf, PLAIN, pipe, signal, written } from './spoken.ts';

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
    ['a picture and a caption', ['<img alt="A dog">', 'Figure 1: The dog of our house', 'It barks.']],
    ['a word and a sentence about it', ['FAIL', 'If the paragraph above reads "FAIL", the test fails.']],
    ['long lines', [`It was dark, and ${'so '.repeat(30)}`.trim(), 'and then,', 'there was nothing.']],
  ])('is not %s', async (_, lines) => {
    expect(await read(blocksOf(lines, 'p'))).toBe(lines.join('\n\n').replace(/<\/?span>|<img alt="|">/g, ''));
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
    [
      'a caption that repeats the picture once',
      '<figure><img alt="A cat"/><figcaption><p>A cat.</p></figcaption></figure><p>A cat</p>',
      'A cat\n\nA cat',
    ],
    [
      'a caption that says more',
      '<figure><img alt="A cat"/><figcaption>A cat, 1</figcaption></figure>',
      'A cat\n\nA cat, 1.',
    ],
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
      '<script>x</script><style>y</style><template>z</template><svg><title>t</title><path/><defs><text>u</text></defs></svg>a',
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
      '<h2>a</h2><span class="mw-editsection">[<a href="/w/index.php">edit</a>]</span><p>b<sup class="noprint Inline-Template Template-Fact">[<i><a href="/w/F">citation needed</a></i>]</sup></p>',
      'a.\n\nb',
    ],
    ['scene breaks', '<p>a</p><hr/><p>* * *</p><p>b</p><h3>* * *</h3><p>c</p>', 'a\n\nb\n\nc'],
    ['a script behind a slash', '<p>a</p><script type="x"/>if (a<b) c</script><p>b</p>', 'a\n\nb'],
    ['a style behind a slash', '<p>a</p><STYLE/>p > b {}</STYLE ><p>b</p>', 'a\n\nb'],
    ['scripts of both kinds', '<script src="a"/><p>a</p><script>x</script><script/>y</script>b', 'a\n\nb'],
    ['a script behind a slash without an end', `<p>a</p><script/>${'b '.repeat(3)}`, 'a\n\nb b b'],
    [
      'a tag that only begins like a script',
      '<p>a <s>b</s> <span>c</span> <script-x>d</script-x></p>',
      'a b c d',
    ],
    ['empty scripts', '<script src="a"/><p>a</p><script/><style/><p>b</p>', 'a\n\nb'],
    [
      'powers',
      '10<sup>6</sup> m, 2<sup>10</sup>, 10<sup>−3</sup>, 10<sup>-6</sup>, 2<sup>n</sup>',
      '10 to the 6 m, 2 to the 10, 10 to the minus 3, 10 to the minus 6, 2 to the n',
    ],
    ['powers of a class', '<p>10<span class="superscript">6</span> m</p>', '10 to the 6 m'],
    [
      'units and ordinals',
      '5 m<sup>2</sup>, metre<sup>3</sup>, 1<sup>st</sup>, XX<sup>e</sup>, n<sup>o</sup> 1, N.<sup>o</sup> 2, <sup>14</sup>C',
      '5 m2, metre3, 1st, XXe, no 1, N.o 2, 14C',
    ],
    [
      'a number and a fraction',
      '1<sup>1</sup>/<sub>2</sub> and 3<sup>1</sup>⁄<sub>4</sub>',
      '1 1/2 and 3 1⁄4',
    ],
    [
      'no marks of notes',
      'He left.<sup>1</sup> “She stayed”<sup>[2]</sup>, and (so)<sup>3</sup> on;<sup>*</sup> see.<sup>4, 5</sup>',
      'He left. “She stayed”, and (so) on; see.',
    ],
    [
      'no marks of notes behind words',
      'He left<sup>1</sup> in 1999<sup>2</sup>, or<sup>[3]</sup> later<sup>†</sup>.',
      'He left in 1999, or later.',
    ],
    [
      'no linked marks of notes',
      'He left.<a href="x.html"><sup>1</sup></a> Ho.<sup><a href="x.html">[2]</a></sup> Hi.',
      'He left. Ho. Hi.',
    ],
    [
      'code',
      '<p>a</p><pre><code class="language-c">x = 1;\ny</code></pre><p>Call <code>f</code>.</p>',
      'a\n\nCode in c omitted.\n\nCall f.',
    ],
    [
      'code by lines',
      '<pre>\n<code>x</code>\n<code>y</code>\n</pre><pre>A verse\nof two</pre>',
      'Code omitted.\n\nA verse\nof two',
    ],
    [
      'code by the class of its block',
      '<pre class="programlisting">x</pre><pre class="brush: js">x</pre><div class="highlight-source-rust highlight"><pre><i>x</i></pre></div>b',
      'Code omitted.\n\nCode omitted.\n\nCode omitted.\n\nb',
    ],
    [
      'code in an item',
      '<ul><li>a<pre><samp>x</samp></pre></li><li>b</li></ul>',
      'a.\n\nCode omitted.\n\nb.',
    ],
    [
      'no code',
      '<pre class="verse">A rose\nis</pre><pre>Dear <code>Ann</code></pre>',
      'A rose\nis\n\nDear Ann',
    ],
    [
      'text of a drawing',
      'a<svg viewBox="0 0 9 9"><text>The sea <tspan>was</tspan> calm.</text><g><text>No one spoke.</text></g></svg>b',
      'a\n\nThe sea was calm.\n\nNo one spoke.\n\nb',
    ],
    [
      'the label of a drawing',
      '<p>a <svg role="img" aria-label="A map"><title>x</title><text>y</text></svg> b</p>',
      'a A map b',
    ],
    ['the title of a drawing', '<p>a <svg role="img"><title>A map</title><path/></svg> b</p>', 'a A map b'],
    ['a drawing that is hidden', '<p>a<svg aria-hidden="true" aria-label="x"><text>y</text></svg></p>', 'a'],
    [
      'no names of files',
      ['IMG_2033.JPG', 'cover.jpg', 'fig-3_2.png', 'DSC01234', 'my-map_2']
        .map((alt) => `<img alt="${alt}" src="a/my-map_2.png">`)
        .join(''),
      '',
    ],
    [
      'no kinds of pictures',
      [
        ...['image', 'Image 3', 'logo', 'Untitled', 'picto', 'Photo', 'art', 'clip.mp4', 'IMG_1.heic'],
        ...[
          'Screenshot 2024-01-02 at 10.11.12 PM',
          'Pasted image 20240102101112',
          'Screen Shot',
          'screenshot_3',
        ],
      ]
        .map((alt) => `<img alt="${alt}">`)
        .join(''),
      '',
    ],
    [
      'no guessed descriptions',
      [
        'A cat on a wall\n\nDescription automatically generated with medium confidence',
        'A screenshot of a computer&#10;&#10;AI-generated content may be incorrect.',
        'Ein Bild, das Katze enthält.\n\nAutomatisch generierte Beschreibung',
        'Ein Bild, das Text enthält.\n\nKI-generierte Inhalte können fehlerhaft sein.',
        'Une image contenant chat\n\nDescription générée automatiquement',
        'Imagen que contiene gato\n\nDescripción generada automáticamente',
        'Immagine che contiene testo\n\nIl contenuto generato dall’IA potrebbe non essere corretto.',
      ]
        .map((alt) => `<img alt="${alt}">`)
        .join(''),
      '',
    ],
    [
      'no badges',
      [
        'src="https://img.shields.io/npm/v/a.svg"',
        'src="https://codecov.io/gh/a/b/branch/main/graph/badge.svg?token=1"',
        'src="https://versionbadg.es/a/b.svg"',
        'src="https://dl.circleci.com/status-badge/img/gh/a/b/tree/main.svg"',
        'src="https://camo.githubusercontent.com/1" data-canonical-src="https://gitlab.com/a/b/badges/main/pipeline.svg"',
      ]
        .map((address) => `<a href="x"><img alt="Build Status" ${address}></a>`)
        .join('\n'),
      '',
    ],
    [
      'decorations once',
      '<p><img alt="A leaf"><img alt="A leaf"><img alt="A leaf"> b <img alt="A cat on a wall"></p>',
      'A leaf b A cat on a wall',
    ],
    [
      'a description that is a name',
      '<p><img alt="Map" src="map.png"> <img alt="The cover of the book"> <img alt="Screenshot of Mars"></p>',
      'Map The cover of the book Screenshot of Mars',
    ],
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

  it('reads a formula in TeX, also one that is hidden behind its picture, as it is asked', async () => {
    const tex = 'alttext="{\\displaystyle \\frac{a}{b}=c^{2}}"';
    const html = `<p>a <span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: none;"><math ${tex}><mi>x</mi></math></span><img aria-hidden="true" ${tex.replace('alttext', 'alt')}> b</p>`;
    expect(await read(html)).toBe('a formula b');
    expect(await read(html, { math: 'read' })).toBe('a a over b equals c squared b');
  });

  it('skips or reads code as it is asked', async () => {
    const html = '<p>a</p><pre><code>x\ny</code></pre><pre class="listing">z</pre><p>b</p>';
    expect(await read(html, { code: 'skip' })).toBe('a\n\nb');
    expect(await read(html, { code: 'read' })).toBe('a\n\nx\ny\n\nz\n\nb');
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

  it('has a limit for elements inside each other', async () => {
    await expect(read('<b>'.repeat(100_000))).rejects.toThrow('elements nested more than 512 deep');
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

describe('the text of a page', () => {
  const long = (word: string) => `${word} ${'is told in a paragraph of prose, '.repeat(8)}to its end.`;
  const story = long('The story');
  const more = long('More of it');
  const other = long('Another thing');
  const text = [story, more].join('\n\n');
  const paragraphs = `<p>${story}</p><p>${more}</p>`;
  const link = '<a href="/x">A long title of another page</a>';

  it.each([
    ['a main with a word is not the text', `<main>Loading</main><div>${paragraphs}</div>`, text],
    ['an article of a few words is not the text', `<article>Hi</article><div>${paragraphs}</div>`, text],
    ['the form of ASP.NET', `<form id="aspnetForm"><div>${paragraphs}</div></form>`, text],
    [
      'the body of an article',
      `<p>${other}</p><div itemprop="articleBody">${paragraphs.repeat(3)}</div>`,
      Array(3).fill(text).join('\n\n'),
    ],
    [
      'a header with the only h1',
      `<header><h1>T</h1><p>A lead.</p></header><article>${paragraphs}</article>`,
      `T.\n\nA lead.\n\n${text}`,
    ],
    ['the only h1', `<div><h1>T</h1></div><article>${paragraphs}</article>`, `T.\n\n${text}`],
    [
      'the only h1, which is a link',
      `<div><div><h1>${link}</h1><p>Yesterday</p></div><div>${paragraphs}</div></div>`,
      `A long title of another page.\n\n${text}`,
    ],
    [
      'a lead before the article',
      `<div><p>${other}</p><article>${paragraphs}</article></div>`,
      `${other}\n\n${text}`,
    ],
    [
      'two articles',
      `<article>${paragraphs}</article><article><p>${other}</p></article>`,
      `${text}\n\n${other}`,
    ],
    ['a dialog', `<div role="dialog"><p>${other.repeat(2)}</p></div><div>${paragraphs}</div>`, text],
    ['an open dialog', `<dialog open><p>${other}</p></dialog><div>${paragraphs}</div>`, text],
    ['consent', `<div id="onetrust-banner-sdk"><p>${other}</p></div><div>${paragraphs}</div>`, text],
    [
      'comments by their id',
      `<article>${paragraphs}<section id="comments"><h2>2 comments</h2><p>${other}</p></section></article>`,
      text,
    ],
    [
      'comments by their class',
      `<article>${paragraphs}</article><details class="CommentBox" open><p>${other}</p></details>`,
      text,
    ],
    [
      'more comments than text',
      `<div>${paragraphs}</div><ol class="comment-list">${`<li><p>${other}</p></li>`.repeat(9)}</ol>`,
      text,
    ],
    [
      'no comments of a page that has some',
      `<article class="post has-comments">${paragraphs}</article>`,
      text,
    ],
    ['a text called comment', `<div class="comment">${paragraphs}</div>`, text],
    ['a sidebar that is the text', `<div class="sidebar">${paragraphs}</div><p>Hi.</p>`, `${text}\n\nHi.`],
    [
      'buttons to share',
      `<article>${paragraphs}<div class="share-buttons"><p>Share this with your friends now.</p></div></article>`,
      text,
    ],
    [
      'a newsletter',
      `<article>${paragraphs}<div class="newsletter-box"><p>${other}</p></div></article>`,
      text,
    ],
    [
      'related teasers',
      `<article>${paragraphs}</article>${`<div><h3>${link}</h3><p>A few words on it.</p></div>`.repeat(4)}`,
      text,
    ],
    [
      'a menu without a name',
      `<div><ul>${`<li>${link}</li>`.repeat(5)}</ul></div><div>${paragraphs}</div>`,
      text,
    ],
    [
      'a list of sources',
      `<div>${paragraphs}<ul><li>${link}</li></ul><p>${other}</p></div>`,
      `${text}\n\nA long title of another page.\n\n${other}`,
    ],
    [
      'a heading of what is left out',
      `<div>${paragraphs}<h2>More</h2><div class="related">${link}</div></div>`,
      text,
    ],
    [
      'a line of links before short lines',
      `<div>${paragraphs}<p>See: <a href="/x">How the old tower was built in nine years</a></p><p>“So it is,” he said to us,</p><p>and then he left.</p></div>`,
      `${text}\n\n“So it is,” he said to us, and then he left.`,
    ],
    ['a signature', `<div>${paragraphs}<p>Yours, Ann</p></div>`, `${text}\n\nYours, Ann`],
    ['a signature in the body', `${paragraphs}<p>Ann</p>`, `${text}\n\nAnn`],
    [
      'a list at the end, with its heading',
      `<div>${paragraphs}<h2>You need</h2><ul><li>salt</li></ul></div>`,
      `${text}\n\nYou need.\n\nsalt.`,
    ],
    [
      'Japanese',
      `<div id="related"><a href="/">他の記事の長い題名</a></div><div><p>${'これは本です。'.repeat(20)}</p></div>`,
      'これは本です。'.repeat(20),
    ],
  ])('is told from what is beside it: %s', async (_, html, expected) => {
    for (const size of [html.length, 11]) expect(await read(`<body>${html}</body>`, {}, size)).toBe(expected);
  });

  it('leaves out the contents of a page that Word saved', async () => {
    const contents = '<p class=MsoTocHeading>Contents</p><p class=MsoToc1><a href="#a">One</a>2</p>';
    expect(await read(`${contents}<h1><a name="a">One</a></h1><p>Text.</p>`)).toBe('One.\n\nText.');
  });

  it('is all of the page where that is asked for', async () => {
    const html = '<nav>a</nav><main>b</main><div id="comments">c</div><p class=MsoToc1>d</p>';
    expect(await read(html, { readsAll: true })).toBe('a\n\nb\n\nc\n\nd');
  });

  it('comes with a remark where most of the page is left out', async () => {
    const page = `<div>${paragraphs}</div><div id="comments">${`<p>${other}</p>`.repeat(9)}</div>`;
    expect((await readPage(page)).remarks).toEqual([
      'most of the page is left out: comments, teasers and the like; --all reads them',
    ]);
    expect((await readPage(paragraphs)).remarks).toEqual([]);
  });
});

it.each([
  ['pictures', '<p><img src="a.png"><img src="b.png" alt=""></p>'],
  ['pictures whose descriptions say nothing', '<h1><img src="a.png" alt="cover"></h1>'],
  ['a drawing', '<div><svg viewBox="0 0 1 1"><image href="a.jpg"/></svg></div>'],
])('says of a page that it holds only %s', async (_, page) => {
  const { text, remarks } = await readPage(page);
  expect(text).toBe('');
  expect(remarks).toEqual(['the page holds only pictures without descriptions']);
});

it('says nothing of a page with pictures and text', async () => {
  expect(await readPage('<p><img src="a.png"> Text</p>')).toMatchObject({ text: 'Text', remarks: [] });
});

it('says of a page how much of it could not be decoded', async () => {
  const bytes = Buffer.concat([Buffer.from('<p>Café – “yes” '), Buffer.from([0xe9])]);
  const { text, remarks } = await readPage(bytes);
  expect(text).toBe('Café – “yes” \ufffd');
  expect(remarks).toEqual(['a character could not be decoded: the bytes do not fit the encoding']);
});

interface PageRead {
  readonly text: string;
  readonly remarks: readonly string[];
}

function readNotes(html: string, readsNotes: boolean, isPipe = false): Promise<PageRead> {
  return readPage(html, { ...PLAIN, readsNotes }, isPipe);
}

async function readPage(page: string | Uint8Array, options = PLAIN, isPipe = false): Promise<PageRead> {
  const remarks: string[] = [];
  const reading = await openHtml(isPipe ? pipe([page]) : fileOf(page), options, signal);
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
    ['by the same number', '<p>A<sup><a href="#x7">1</a></sup> b.</p><p><a id="x7"></a>1 Note.</p>'],
    ['in capitals, by a named sign', '<P>A<A HREF="#x7">&dagger;</A> b.<P ID="x7">&dagger; Note.'],
    [
      'by the class of what is around it',
      '<p>A<span class="fnref"> <i><a href="#x7">1</a></i></span> b.</p><p id="x7">Note.</p>',
    ],
  ])('is left out, or read where it is referred to: %s', async (_, html) => {
    expect(await readNotes(html, false)).toEqual({
      text: 'A b.',
      remarks: ['1 note is not read; --footnotes read reads it where it is referred to'],
    });
    for (const isPipe of [false, true])
      expect(await readNotes(html, true, isPipe)).toEqual({ text: 'A (Note) b.', remarks: [] });
  });

  it.each(['MsoFootnoteText', 'MsoEndnoteText', 'sdfootnote', 'sdendnote'])(
    'is left out with its further paragraphs, as Word and LibreOffice write them: %s',
    async (name) => {
      const note = `<p class="${name}"><a name="n" href="#r">1</a> Note.</p><p class="${name}">More.</p>`;
      const html = `<p>A<a name="r" href="#n"><sup>1</sup></a> b.</p><div id="x">${note}</div>`;
      expect((await readNotes(html, false)).text).toBe('A b.');
    },
  );

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
    [
      'numbers of lines that lead to themselves',
      '<p><a href="#1" id="1">1</a> One</p><p><a name="2"></a><a href="#2">2</a> Two</p>',
      '1 One\n\n2 Two',
    ],
    [
      'a sign that leads to its own part',
      '<section id="s"><a href="#s">§</a><h3>Part</h3><p>Text</p></section>',
      'Part.\n\nText',
    ],
  ])('is not what only looks like one: %s', async (_, html, text) => {
    expect(await readNotes(html, false)).toEqual({ text, remarks: [] });
  });

  it('after a sentence is a sentence', async () => {
    const html = '<p>A.<a role="doc-noteref" href="#n">1</a> B.</p><p id="n" role="doc-footnote">1. Note</p>';
    expect((await readNotes(html, true)).text).toBe('A. Note. B.');
  });
});
