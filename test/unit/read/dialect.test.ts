import { describe, expect, it } from 'vitest';
import { spokenBlocks } from '../../../src/read/markdown-blocks.ts';
import { wordsOfTex } from '../../../src/read/markdown-inline.ts';
import { MarkdownDocument } from '../../../src/read/markdown-parser.ts';
import type { MarkdownOptions } from '../../../src/read/reading.ts';

function spoken(source: string, options: Partial<MarkdownOptions> = {}): string {
  const document = new MarkdownDocument(source, {});
  const blocks = spokenBlocks(document, { code: 'announce', footnotes: 'read', ...options });
  return [...blocks].map(({ gap, text }) => gap + text).join('');
}

describe('Markdown as people write it', () => {
  it.each([
    ['a formula', 'The rate $f_s > 2B$ is enough.', 'The rate formula is enough.'],
    ['a formula with backslashes', 'So \\(a^2 + b^2 = c^2\\) holds.', 'So formula holds.'],
    ['a formula of its own', 'It is\n\n$$\nx = y\n- z\n$$\n\nDone.', 'It is\n\nformula\n\nDone.'],
    ['a formula in brackets of its own', '\\[\nx = \\frac{1}{2}\n\\]\n', 'formula'],
    ['money', 'It costs $5, not $6, or $5-$10.', 'It costs $5, not $6, or $5-$10.'],
    ['escaped brackets', 'Call f\\(x\\) \\[now\\].', 'Call f(x) [now].'],
    [
      'a wiki link',
      'See [[Old Lighthouse]] and [[path/Page#Top|that page]].',
      'See Old Lighthouse and that page.',
    ],
    ['an embedded file', 'Here ![[image.png]] it is.', 'Here it is.'],
    ['a marked text', 'This is ==very *important*== today.', 'This is very important today.'],
    ['comparisons', 'if a == b and c == d', 'if a == b and c == d'],
    ['a comment', 'One %%not this%% two.', 'One two.'],
    ['a comment of its own', 'One.\n\n%%\nnot this\n\nnor this\n%%\n\nTwo.', 'One.\n\nTwo.'],
    ['percents', 'It is 5%% or 6%.', 'It is 5%% or 6%.'],
    ['a box', '::: warning\nTake care.\n:::\n\nGo on.', 'Take care.\n\nGo on.'],
    ['a box with classes', 'Before.\n:::: {.note #x}\nInside.\n::::', 'Before.\n\nInside.'],
    ['a citation', 'As he says [@smith2004, p. 3; @doe99].', 'As he says.'],
    ['a citation with words', 'It is known [see @smith2004].', 'It is known.'],
    ['an address in brackets', 'Write to [me@example.com].', 'Write to [me@example.com].'],
    ['a note in the text', 'He went.^[So they *say*.] She stayed.', 'He went. So they say. She stayed.'],
    ['a new page', 'One.\n\n\\newpage\n\nTwo.', 'One.\n\nTwo.'],
    ['the mark of a note', 'among the trees.[1](#note-1) I gazed', 'among the trees. I gazed'],
    [
      'the mark of a note as HTML',
      'trees.<a href="end.xhtml#n1" class="noteref">1</a> I gazed',
      'trees. I gazed',
    ],
    [
      'the way back from a note',
      'Coleridge’s “Ancient Mariner.” [↩︎](#noteref-1)',
      'Coleridge’s “Ancient Mariner.”',
    ],
    ['a link with a place', 'See [chapter 1](#c1).', 'See chapter 1.'],
    ['a power', '10<sup>3</sup> is not 103, and m<sup>2</sup>', '10³ is not 103, and m²'],
    ['a raised mark', 'the trees<sup>1</sup> stood', 'the trees stood'],
    ['a raised ending', 'the 19<sup>th</sup> day', 'the 19th day'],
    ['a lowered sign', 'H<sub>2</sub>O', 'H2O'],
  ])('%s', (_what, source, expected) => {
    expect(spoken(source)).toBe(expected);
  });

  it('leaves notes in the text out where notes are', () => {
    expect(spoken('He went.^[So they say.] She stayed.', { footnotes: 'skip' })).toBe('He went. She stayed.');
  });

  it('reads a formula in plain words', () => {
    expect(spoken('So $a^2 + b^2 = c^2$.', { math: 'read' })).toBe(
      'So a squared plus b squared equals c squared.',
    );
  });
});

describe('the words of TeX', () => {
  it.each([
    ['f_s > 2B', 'f s is greater than 2 B'],
    ['\\frac{1}{2}', '1 over 2'],
    ['\\sqrt{x^2 + 1}', 'square root of x squared plus 1'],
    ['E = mc^2', 'E equals mc squared'],
    ['\\sum_{i=1}^{n} x_i', 'sum from i equals 1 to n of x i'],
    ['\\alpha \\le \\beta\\,\\mathrm{d}x', 'alpha is at most beta d x'],
    ['x^{n-1}', 'x to the power of n minus 1'],
    ['a \\cdot b \\neq 0', 'a times b is not equal to 0'],
  ])('%s', (tex, words) => {
    expect(wordsOfTex(tex)).toBe(words);
  });
});
