import { describe, expect, it } from 'vitest';
import { openHtml } from '../../../src/read/html.ts';
import { wordsSource } from '../../../src/read/source.ts';
import { written } from './spoken.ts';

const { signal } = new AbortController();

interface Read {
  readonly text: string;
  readonly remarks: readonly string[];
}

async function read(html: string, readsNotes: boolean, isPipe = false): Promise<Read> {
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
    expect(await read(html, false)).toEqual({
      text: 'A b.',
      remarks: ['1 note is not read; --footnotes read reads it where it is referred to'],
    });
    expect(await read(html, true)).toEqual({ text: 'A (Note) b.', remarks: [] });
  });

  it('is read at the first of its references only, and no reference is spoken', async () => {
    const reference = '<a href="#n"><sup>1</sup></a>';
    const html = `<p>A${reference} b${reference}.</p><p>C${reference}.</p><p id="n">1 Note.</p>`;
    expect(await read(html, true)).toEqual({ text: 'A (Note) b.\n\nC.', remarks: [] });
    expect((await read(html, false)).text).toBe('A b.\n\nC.');
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
    expect(await read(html, false)).toEqual({ text, remarks: [] });
  });

  it('after a sentence is a sentence', async () => {
    const html = '<p>A.<a role="doc-noteref" href="#n">1</a> B.</p><p id="n" role="doc-footnote">1. Note</p>';
    expect((await read(html, true)).text).toBe('A. Note. B.');
  });

  it('of a page from a pipe is known by its name, and read where it stands', async () => {
    const html = '<p>A<sup><a href="#fn1">1</a></sup> b.</p><p id="fn1">Note.</p>';
    expect((await read(html, false, true)).text).toBe('A b.');
    expect((await read(html, true, true)).text).toBe('A b.\n\nNote.');
  });
});
