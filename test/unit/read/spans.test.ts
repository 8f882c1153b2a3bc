import { expect, it, test } from 'vitest';
import { withSpans } from '../../../src/read/spans.ts';
import { clipsOf } from '../../../src/run/read-along.ts';

const page = (body: string) => `<html><head><title>One two</title></head><body>${body}</body></html>`;

/** Sentences are found in the order of the text; `[` and `]` show the elements around them. */
test.each([
  [
    'two sentences',
    '<p>One two. Three four.</p>',
    ['One two.', 'Three four.'],
    '<p>[One two.] [Three four.]</p>',
  ],
  ['emphasis inside', '<p>One <i>two</i> three.</p>', ['One two three.'], '<p>[One <i>two</i> three.]</p>'],
  [
    'emphasis over a border',
    '<p>One <i>two. Three</i> four.</p>',
    ['One two.', 'Three four.'],
    '<p>[One ]<i>[two.] [Three]</i>[ four.]</p>',
  ],
  ['a large first letter', '<p><b>T</b>he end.</p>', ['The end.'], '<p>[<b>T</b>he end.]</p>'],
  [
    'entities',
    '<p>Tom &amp; caf&#233;s here.</p>',
    ['Tom & cafés here.'],
    '<p>[Tom &amp; caf&#233;s here.]</p>',
  ],
  [
    'a picture inside',
    '<p>One <img src="a.png"/> two.</p>',
    ['One two.'],
    '<p>[One <img src="a.png"/> two.]</p>',
  ],
  [
    'a reference that is not spoken',
    '<p>One two<a href="#n">1</a> three.</p>',
    ['One two three.'],
    '<p>[One two<a href="#n">1</a> three.]</p>',
  ],
  [
    'cells of a row',
    '<table><tr><td>One</td><td>Two</td></tr></table>',
    ['One, Two.'],
    '<table><tr><td>[One]</td><td>[Two]</td></tr></table>',
  ],
  [
    'a heading without its full stop',
    '<h1>The title</h1><p>One.</p>',
    ['The title.', 'One.'],
    '<h1>[The title]</h1><p>[One.]</p>',
  ],
  ['a line break', '<p>One two<br/>three.</p>', ['One two\nthree.'], '<p>[One two]<br/>[three.]</p>'],
  ['wrapped lines', '<p>One\n  two\n  three.</p>', ['One two three.'], '<p>[One\n  two\n  three.]</p>'],
  [
    'white space at the end of a tag',
    '<p\n  ><b id="a">One two.</b\n  ><b>Three <i>four</i\n >.</b\n  > <i>Five.</i ></p >',
    ['One two.', 'Three four.', 'Five.'],
    '<p\n  ><b id="a">[One two.]</b\n  ><b>[Three <i>four</i\n >.]</b\n  > <i>[Five.]</i ></p >',
  ],
  [
    'what is not spoken before',
    '<p>Zero.</p><p>One two three.</p>',
    ['One two three.'],
    '<p>Zero.</p><p>[One two three.]</p>',
  ],
  ['what is nowhere', '<p>One two.</p>', ['A picture of a cat.', 'One two.'], '<p>[One two.]</p>'],
  ['the same sentence twice', '<p>Yes.</p><p>Yes.</p>', ['Yes.', 'Yes.'], '<p>[Yes.]</p><p>[Yes.]</p>'],
  [
    'words of a lexicon',
    '<p>The nginx server is here.</p>',
    ['The engine x server is here.'],
    '<p>[The nginx server is here.]</p>',
  ],
  ['comments', '<p>One <!-- <b> --> two.</p>', ['One two.'], '<p>[One <!-- <b> --> two.]</p>'],
  [
    'scripts',
    '<script>One two.</script><p>One two.</p>',
    ['One two.'],
    '<script>One two.</script><p>[One two.]</p>',
  ],
  [
    'a ruby',
    '<p><ruby>漢字<rt>かんじ</rt></ruby>です。</p>',
    ['漢字です。'],
    '<p>[<ruby>漢字<rt>かんじ</rt></ruby>です。]</p>',
  ],
])('Spoken sentences are wrapped, and nothing else changes: %s', (_, body, sentences, wrapped) => {
  const document = page(body);
  const spoken = sentences.map((written) => ({ written, at: 0 }));
  const { text, targets } = withSpans(document, spoken, '');
  const shown = text.replace(/<span id="tts-\d+">/g, '[').replace(/<\/span>/g, ']');
  expect(shown).toBe(page(wrapped));
  const names = targets.flat().map(({ id }) => id);
  expect(new Set(names).size).toBe(names.length);
  for (const id of names) expect(text.split(`id="${id}"`).length).toBe(2);
});

/** A sentence, and the text in front of which its block begins. */
const spokenIn = (document: string, sentences: readonly (readonly [written: string, block: string])[]) =>
  sentences.map(([written, block]) => ({ written, at: document.indexOf(block, document.indexOf('<body>')) }));

/** What is spoken of a document may stand elsewhere in it, or in other words. */
test.each([
  [
    'a description in words that follow',
    '<p><img alt="Two three."/></p><p>One.</p><p>Two three.</p>',
    [
      ['Two three.', '<img'],
      ['One.', 'One'],
      ['Two three.', 'Two three.</p'],
    ],
    '<p><img alt="Two three."/></p><p>[One.]</p><p>[Two three.]</p>',
  ],
  [
    'the reading of a ruby',
    '<p>漢字です。<ruby>東京<rt>とうきょう</rt></ruby>へ。</p><p>One.</p>',
    [
      ['漢字です。', '漢'],
      ['とうきょうへ。', '漢'],
      ['One.', 'One'],
    ],
    '<p>[漢字です。][<ruby>東京<rt>とうきょう</rt></ruby>へ。]</p><p>[One.]</p>',
  ],
  [
    'code that is not read',
    '<p>One.</p><pre>let a = 1;</pre><p>Two.</p>',
    [
      ['One.', 'One'],
      ['Code omitted.', 'let'],
      ['Two.', 'Two'],
    ],
    '<p>[One.]</p><pre>[let a = 1;]</pre><p>[Two.]</p>',
  ],
  [
    'nothing that is long in place of a short sentence',
    `<p>One.</p><p><img alt="A cat"/></p><div>${'Not spoken. '.repeat(9)}</div>`,
    [
      ['One.', 'One'],
      ['A cat', '<img'],
    ],
    `<p>[One.]</p><p><img alt="A cat"/></p><div>${'Not spoken. '.repeat(9)}</div>`,
  ],
  [
    'a note behind its sentence',
    '<p>One two.<a href="#n">1</a> Three four.</p><p>Five.</p><aside epub:type="footnote" id="n">A note. Six.</aside><p>Seven.</p>',
    [
      ['One two.', 'One'],
      ['A note.', 'One'],
      ['Six.', 'One'],
      ['Three four.', 'One'],
      ['Five.', 'Five'],
      ['Seven.', 'Seven'],
    ],
    '<p>[One two.]<a href="#n">1</a> [Three four.]</p><p>[Five.]</p><aside epub:type="footnote" id="n">[A note.] [Six.]</aside><p>[Seven.]</p>',
  ],
  [
    'a note in its sentence',
    '<p>One two<a href="#n">1</a> three four. Five.</p><div class="footnotes"><p id="n">The words of a long note that says more</p></div><p>Six.</p>',
    [
      ['One two (The words of a long note that says more) three four.', 'One'],
      ['Five.', 'One'],
      ['Six.', 'Six'],
    ],
    '<p>[One two<a href="#n">1</a> three four.] [Five.]</p><div class="footnotes"><p id="n">The words of a long note that says more</p></div><p>[Six.]</p>',
  ],
  [
    'hidden words and numbers of pages',
    '<p>One <span hidden="hidden">two</span> <span epub:type="pagebreak">7</span> three.</p><p>Two.</p>',
    [
      ['One three.', 'One'],
      ['Two.', 'Two'],
    ],
    '<p>[One <span hidden="hidden">two</span> <span epub:type="pagebreak">7</span> three.]</p><p>[Two.]</p>',
  ],
  [
    'a formula',
    '<p><math alttext="a plus b"><mi>a</mi></math> is so. <math alttext="c"><mi>c</mi></math></p><p>Two.</p>',
    [
      ['a plus b is so.', 'a</mi'],
      ['c', 'a</mi'],
      ['Two.', 'Two'],
    ],
    '<p><math alttext="a plus b"><mi>a</mi></math> [is so.] <math alttext="c"><mi>c</mi></math></p><p>[Two.]</p>',
  ],
  [
    'CDATA, which holds no elements',
    '<p>One <![CDATA[two & three. Four.]]> Five.</p>',
    [
      ['One two & three.', 'One'],
      ['Five.', 'One'],
    ],
    '<p>[One <![CDATA[two & three. Four.]]>] [Five.]</p>',
  ],
  [
    'a document that is read twice',
    '<p>One.</p><p>Two.</p>',
    [
      ['One.', 'One'],
      ['Two.', 'Two'],
      ['One.', 'One'],
      ['Two.', 'Two'],
    ],
    '<p>[One.]</p><p>[Two.]</p>',
  ],
] as const)('Each sentence is looked for where its block is: %s', (_, body, sentences, wrapped) => {
  const document = page(body);
  const { text } = withSpans(document, spokenIn(document, sentences), '');
  expect(text.replace(/<span id="tts-\d+">/g, '[').replace(/(?<!\d|two)<\/span>/g, ']')).toBe(page(wrapped));
});

it('Text of a drawing gets elements of drawings, and no other part of one has any.', () => {
  const drawing = (one: string, words: string, four: string) =>
    `<p>${one} <svg:svg><svg:desc>Two.</svg:desc><svg:text>${words}</svg:text></svg:svg> ${four}</p>`;
  const document = page(drawing('One.', 'Two. Three.', 'Four.'));
  const sentences = ['One.', 'Two.', 'Three.', 'Four.'].map((written) => ({ written, at: 0 }));
  const words = '<svg:tspan>Two.</svg:tspan> <svg:tspan>Three.</svg:tspan>';
  expect(withSpans(document, sentences, '').text.replace(/ id="tts-\d"/g, '')).toBe(
    page(drawing('<span>One.</span>', words, '<span>Four.</span>')),
  );
});

it('The style goes into the head, and names that are taken are not used again.', () => {
  const { text } = withSpans(page('<p id="tts-1">One.</p>'), [{ written: 'One.', at: 0 }], '<link/>');
  expect(text).toBe(
    '<html><head><title>One two</title><link/></head><body><p id="tts-1"><span id="tts1-1">One.</span></p></body></html>',
  );
});

it('A document with prefixes gets elements with the prefix.', () => {
  const { text } = withSpans(
    '<h:html><h:body><h:p>One.</h:p></h:body></h:html>',
    [{ written: 'One.', at: 0 }],
    '',
  );
  expect(text).toContain('<h:p><h:span id="tts-1">One.</h:span></h:p>');
});

it('Notes and the like say so.', () => {
  const document = page('<p>One.</p><aside epub:type="footnote"><p>Two.</p></aside>');
  const { targets } = withSpans(
    document,
    [
      { written: 'One.', at: 0 },
      { written: 'Two.', at: 0 },
    ],
    '',
  );
  expect(targets.flat().map(({ type }) => type)).toEqual([undefined, 'footnote']);
});

const target = (id: string, length = 1) => ({ id, length, type: undefined });
const starts = (...frames: number[]) => frames.map((start) => ({ start }));

test.each([
  [
    'each its own',
    [[target('a')], [target('b')]],
    starts(100, 150),
    [
      ['a', 0, 50],
      ['b', 50, 90],
    ],
  ],
  [
    'silence before the first',
    [[target('a')], [target('b')]],
    starts(110, 150),
    [
      ['a', 0, 50],
      ['b', 50, 90],
    ],
  ],
  [
    'one without a place',
    [[target('a')], [], [target('b')]],
    starts(100, 120, 150),
    [
      ['a', 0, 50],
      ['b', 50, 90],
    ],
  ],
  ['the first without a place', [[], [target('b')]], starts(100, 150), [['b', 0, 90]]],
  [
    'two elements',
    [[target('a', 1), target('b', 3)]],
    starts(100),
    [
      ['a', 0, 23],
      ['b', 23, 90],
    ],
  ],
  ['none at all', [[], []], starts(100, 120), [[undefined, 0, 90]]],
])('Clips are all of the sound of a document: %s', (_, targets, spoken, clips) => {
  const found = clipsOf(targets, { start: 100, spoken }, 90);
  expect(found.map(({ id, from, to }) => [id, from, to])).toEqual(clips);
});
