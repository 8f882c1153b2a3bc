import { describe, expect, it } from 'vitest';
import { withoutInterruptions } from '../../../src/read/pdf-interruptions.ts';

const [HEAD, FOOT] = ['The Sea Report', 'https://example.org/sea'];
/** A page of two columns, as `pdftotext` writes it. */
const page = (first: string, second: string, between = [FOOT, '', HEAD, '']) =>
  ['11/28/26, 11:11 PM', '', first, ...between, second, '', '1/3', ''].join('\n');

describe('running lines between the columns of a page', () => {
  it('are left out, also where they interrupt no sentence', () => {
    const pages = [
      page('The wind had', 'turned.'),
      page('It was wide,', 'and deep.'),
      page('It was dark.', 'Nobody came.'),
    ];
    expect(withoutInterruptions(pages.join('\f'))).toBe(
      [
        page('The wind had', 'turned.', []),
        page('It was wide,', 'and deep.', []),
        page('It was dark.', 'Nobody came.', ['']),
      ].join('\f'),
    );
  });

  it.each([
    [
      'headings of each page',
      ['A pie', 'A cake', 'A soup'].map((dish) => page(dish, 'Salt.', ['', 'Method', ''])),
    ],
    ['lines that occur twice on a page', [1, 2, 3].map(() => page('He said,', 'and so on.', ['Yes', 'Yes']))],
    ['lines of few pages', [page('He had', 'come.'), page('One.', 'Two.', []), page('Three.', 'Four.', [])]],
  ])('are not %s', (_, pages) => {
    const text = pages.join('\f');
    expect(withoutInterruptions(text)).toBe(text);
  });
});
