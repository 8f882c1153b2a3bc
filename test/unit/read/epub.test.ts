import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEpub } from '../../../src/read/epub.ts';
import type { HtmlOptions } from '../../../src/read/reading.ts';
import { fileSource } from '../../../src/read/source.ts';
import { writtenOf } from '../../../src/text/piece.ts';
import { type BookParts, epubOf, packageOf, xhtml } from '../../support/epub.ts';
import { sampleFolder, samplesIn } from '../../support/samples.ts';
import { zipOf } from '../../support/zip.ts';
import { wordsIn, wordsOfBook } from './book-words.ts';
import { openBook, PLAIN, pipe, signal, written } from './spoken.ts';

/** The remarks of a run but the first, which names the source of the chapters. */
async function remarksOf(parts: BookParts): Promise<readonly string[]> {
  const remarks: string[] = [];
  const reading = await openBook(epubOf(parts));
  await written(reading.pieces(signal, { onRemark: (remark) => remarks.push(remark) }));
  return remarks.slice(1);
}

async function read(parts: BookParts | Buffer, options: Partial<HtmlOptions> = {}): Promise<string> {
  const reading = await openBook(Buffer.isBuffer(parts) ? parts : epubOf(parts), options);
  return (await written(reading.pieces(signal))).trim();
}

/** The text without the borders of chapters. */
async function textOf(...book: Parameters<typeof read>): Promise<string> {
  return (await read(...book)).replace(/\{\d[^}]*\}/g, '\n\n').trim();
}

describe('a book', () => {
  it('is read in the order of its spine, without what is not linear or unknown', async () => {
    const documents = { 'c.xhtml': 'Three', 'a.xhtml': 'One', 'n.xhtml': 'Note', 'b.xhtml': 'Two' };
    const spine = ['a.xhtml', 'missing', 'b.xhtml', 'n.xhtml linear="no"', 'c.xhtml', 'a.xhtml'];
    expect(await textOf({ documents, spine })).toBe('One\n\nTwo\n\nThree\n\nOne');
    expect(await textOf({ documents, spine }, { readsAll: true })).toBe('One\n\nTwo\n\nNote\n\nThree\n\nOne');
  });

  it('says what is missing in its spine, and that its pages are fixed', async () => {
    const manifest = '<item id="lost" href="lost.xhtml" media-type="application/xhtml+xml"/>';
    const metadata = '<meta property="rendition:layout">pre-paginated</meta>';
    const spine = ['a.xhtml', 'lost', 'unknown'];
    const bad = Buffer.concat([Buffer.from(xhtml('Größe')), Buffer.from([0xff])]);
    expect(await remarksOf({ documents: { 'a.xhtml': bad }, manifest, metadata, spine })).toEqual([
      'a character could not be decoded: the bytes do not fit the encoding',
      'the reading order names 2 documents that are not in the book, or not text',
      'its pages have a fixed layout, so the order of its text may not be that of the page',
    ]);
  });

  it('is read without its document of notes, whose notes may have several paragraphs', async () => {
    const chapter = (n: number) =>
      [1, 2]
        .map((at) => `<p>Text ${n}.${at}<a id="r${n}${at}" href="n.xhtml#n${n}${at}">${at}</a></p>`)
        .join('');
    const notesOf = (n: number) =>
      `<h2>Chapter ${n}</h2>` +
      [1, 2]
        .map((at) => `<p id="n${n}${at}"><a href="${n}.xhtml#r${n}${at}">${at}</a> A note.</p><p>More.</p>`)
        .join('');
    const documents = {
      '1.xhtml': chapter(1),
      '2.xhtml': chapter(2),
      'n.xhtml': `<h1>Notes</h1>${notesOf(1)}${notesOf(2)}`,
      'z.xhtml': '<p>The end.</p>',
    };
    const texts = ['Text 1.1', 'Text 1.2', 'Text 2.1', 'Text 2.2', 'The end.'];
    expect(await textOf({ documents })).toBe(texts.join('\n\n'));
    expect(await remarksOf({ documents })).toEqual([
      'left out: notes; --all reads what is left out',
      '4 notes are not read; --footnotes read reads them where they are referred to',
    ]);
    expect(await textOf({ documents }, { readsNotes: true })).toMatch(
      /Text 1\.1 \(A note\).*Notes\..*More\./s,
    );
  });

  it('names its documents of pictures', async () => {
    const page = '<svg viewBox="0 0 1 1"><image xlink:href="a.jpg"/></svg>';
    const documents = {
      'cover.xhtml': page,
      'a.xhtml': 'Text <img src="b.png"/>',
      'p1.xhtml': '<img src="c.png"/>',
    };
    const more = { 'p2.xhtml': page, 'p3.xhtml': page, 'p4.xhtml': '<img src="d.png" alt="A dog"/>' };
    for (const [all, names] of [
      [documents, 'cover.xhtml, p1.xhtml'],
      [{ ...documents, ...more }, 'cover.xhtml, p1.xhtml, p2.xhtml and 1 more'],
    ] as const)
      expect(await remarksOf({ documents: all })).toEqual([`only pictures without descriptions: ${names}`]);
  });

  it('is found by prefixes, percent codes and folders', async () => {
    const opf = packageOf({ documents: { '../text/a b%C3%A9.xhtml': '' } })
      .replaceAll(/<(\/?)(package|metadata|manifest|item|spine|itemref)\b/g, '<$1opf:$2')
      .replaceAll('%25', '%');
    const files = [{ name: 'text/a bé.xhtml', data: xhtml('Here') }];
    expect(opf).toContain('<opf:itemref');
    expect(await textOf({ documents: {}, opf, files })).toBe('Here');
  });

  it('takes the fallback of what is no text, and the first of several renditions', async () => {
    const manifest =
      '<item id="x" href="x.svg" media-type="image/svg+xml" fallback="y"/><item id="y" href="y.pdf" media-type="application/pdf" fallback="i0"/><item id="z" href="z.png" media-type="image/png" fallback="z"/>';
    expect(await textOf({ documents: { 'a.xhtml': 'Text' }, manifest, spine: ['x', 'z'] })).toBe('Text');
  });

  it('reads the text of drawings in its spine', async () => {
    const manifest = '<item id="s" href="s.svg" media-type="image/svg+xml"/>';
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><text>The sea.</text></svg>';
    const files = [{ name: 'EPUB/s.svg', data: svg }];
    expect(await textOf({ documents: { 'a.xhtml': 'Here' }, manifest, files, spine: ['a.xhtml', 's'] })).toBe(
      'Here\n\nThe sea.',
    );
  });

  it('knows a document of a wrong type by its ending', async () => {
    const manifest = '<item id="x" href="x.xhtml" media-type="application/xml+xhtml"/>';
    const files = [{ name: 'EPUB/x.xhtml', data: xhtml('Here') }];
    expect(await textOf({ documents: {}, manifest, files, spine: ['x'] })).toBe('Here');
  });

  it.each([
    ['UTF-16', Buffer.from(`\ufeff${xhtml('Größe')}`, 'utf16le')],
    ['a declaration', Buffer.from(xhtml('Größe').replace('utf-8', 'windows-1252'), 'latin1')],
    ['a wrong declaration', Buffer.from(xhtml('Größe'), 'latin1')],
    ['UTF-8 that is declared as another encoding', Buffer.from(xhtml('Größe').replace('utf-8', 'gb2312'))],
    ['entities without a document type', Buffer.from(xhtml('Gr&ouml;&szlig;e'))],
  ])('is decoded: %s', async (_, document) => {
    expect(await textOf({ documents: { 'a.xhtml': document } })).toBe('Größe');
  });

  it('comes through a pipe, and is called stdin in messages', async () => {
    const open = (book: Buffer) => {
      const pieces = Array.from({ length: Math.ceil(book.length / 100) }, (_, at) =>
        book.subarray(100 * at, 100 * at + 100),
      );
      return openEpub(pipe(pieces, '-'), PLAIN, signal);
    };
    const book = await open(epubOf({ documents: { 'a.xhtml': 'Through a pipe' } }));
    expect(await written(book.pieces(signal))).toContain('Through a pipe');
    await expect(open(Buffer.from('PK'))).rejects.toThrow(/^cannot read stdin: the book is damaged/);
    const blank = await open(epubOf({ documents: { 'a.xhtml': '<img/>' } }));
    await expect(written(blank.pieces(signal))).rejects.toThrow(/^stdin holds no text/);
  });
});

describe('the chapters of a book', () => {
  const documents = {
    'a.xhtml': '<p>Before</p>',
    'b.xhtml': '<h1 id="one">I</h1><p>b</p><h2 id="two">II</h2><p>c</p>',
    'c.xhtml': '<p>goes on</p>',
    'd.xhtml': '<h1>End</h1>',
  };
  const nav =
    '<li><a href="b.xhtml#one">One</a><ol><li><a href="b.xhtml#two">Two</a></li></ol></li><li><span>Part</span><ol><li><a href="d.xhtml"><img src="x" alt="Last"/></a></li></ol></li>';
  const expected = 'Before{1 One}I.\n\nb{2 Two}II.\n\nc\n\ngoes on{2 Last}End.';

  it('are those of the nav, with places inside documents and over several', async () => {
    expect(await read({ documents, nav })).toBe(expected);
  });

  const ncx =
    '<navPoint><navLabel><text>One</text></navLabel><content src="b.xhtml#one"/><navPoint><navLabel><text>Two</text></navLabel><content src="b.xhtml#two"/></navPoint></navPoint><navPoint><navLabel><text>Top</text></navLabel><content src="d.xhtml"/><navPoint><navLabel><text>Last</text></navLabel><content src="d.xhtml"/></navPoint></navPoint>';

  it.each([
    ['no nav', undefined],
    ['an empty nav', '<nav epub:type="toc"></nav>'],
    ['a nav of one line', '<li><a href="a.xhtml">The Book</a></li>'],
    [
      'a nav of places that each book has',
      '<li><a href="a.xhtml">Cover</a></li><li><a href="b.xhtml">Start</a></li><li><a href="c.xhtml">Table of Contents</a></li>',
    ],
    [
      'a nav of places and the book',
      '<li><a href="a.xhtml">Cover</a></li><li><a href="b.xhtml">The Book</a></li>',
    ],
    ['a nav that leads nowhere', '<li><a href="x.xhtml">One</a></li><li><a href="y.xhtml">Two</a></li>'],
  ])('are those of the NCX where there is %s', async (_, bad) => {
    expect(await read({ documents, ncx, ...(bad !== undefined && { nav: bad }) })).toBe(expected);
  });

  it('have titles without readings of rubies and soft hyphens', async () => {
    const lines =
      '<li><a href="c.xhtml"><ruby>漢<rp>(</rp><rt>かん</rt></ruby></a></li><li><a href="d.xhtml">hy\u00adphen</a></li>';
    expect(await read({ documents, nav: lines })).toContain('{1 漢}goes on{1 hyphen}End.');
  });

  it('have titles whose lines are words apart', async () => {
    const lines = '<li><a href="c.xhtml">I<br/>The Start</a></li><li><a href="d.xhtml">End</a></li>';
    expect(await read({ documents, nav: lines })).toContain('{1 I The Start}goes on{1 End}End.');
  });

  it('begin with the document where their place is missing', async () => {
    const lines = '<li><a href="c.xhtml#lost">C</a></li><li><a href="d.xhtml">D</a></li>';
    expect(await read({ documents, nav: lines })).toContain('c{1 C}goes on{1 D}End.');
  });

  it('are the headings where no table of contents can be used', async () => {
    expect(await read({ documents })).toBe(
      'Before\n\n{1 I}I.\n\nb\n\n{2 II}II.\n\nc\n\ngoes on\n\n{1 End}End.',
    );
    const one = { 'a.xhtml': '<h1>I</h1><p>a</p><h1>II</h1><p>b</p>' };
    expect(await read({ documents: one, nav: '<li><a href="x.xhtml">X</a></li>' })).toBe(
      '{1 I}I.\n\na\n\n{1 II}II.\n\nb',
    );
  });

  it('are the documents where there are no headings either', async () => {
    const titled = (title: string) => xhtml(`<p>${title}!</p>`).replace('Not spoken', title);
    const untitled = { 'a.xhtml': 'a', 'b.xhtml': 'b' };
    expect(await read({ documents: { 'a.xhtml': titled('One'), 'b.xhtml': titled('Two') } })).toBe(
      '{1 One}One!{1 Two}Two!',
    );
    expect(await read({ documents: untitled })).toBe('{1 }a{1 }b');
  });

  it('have the title that is shown before the one that is not', async () => {
    const documents = {
      'a.xhtml': xhtml('<h1>The <i>Hill</i> &amp; Sea</h1><p>a</p>').replace('Not spoken', 'export-1'),
    };
    expect(await read({ documents })).toBe('{1 The Hill & Sea}The Hill & Sea.\n\na');
  });

  it('have their number and their title', async () => {
    const told = `<p>${'It was a long day. '.repeat(4)}</p>`;
    const documents = {
      'a.xhtml': `<h1>I</h1><h2>The Hill</h2>${told}`,
      'b.xhtml': `<h1>II</h1><h2>The Sea</h2>${told}`,
    };
    expect((await read({ documents })).match(/\{.*?\}/gu)).toEqual(['{1 I. The Hill}', '{1 II. The Sea}']);
  });

  it('have no title that several documents share, which is that of the book', async () => {
    const titled = (title: string, text: string) => xhtml(`<p>${text}</p>`).replace('Not spoken', title);
    const documents = {
      'a.xhtml': titled('', 'a'),
      'b.xhtml': titled('', 'b'),
      'c.xhtml': titled('The Book', 'c'),
      'd.xhtml': titled('The Book', 'd'),
      'e.xhtml': titled('One', 'e'),
    };
    expect(await read({ documents })).toBe('{1 }a{1 }b{1 }c{1 }d{1 One}e');
  });
});

describe('a part that the book itself marks', () => {
  it.each([
    ['titlepage', undefined],
    ['copyright-page', undefined],
    ['imprint', undefined],
    ['index', undefined],
    ['dedication', 'Marked'],
    ['epigraph', 'Marked'],
    ['appendix', 'Marked'],
  ])('is read or left out: %s', async (type, text) => {
    const documents = { 'a.xhtml': `<section epub:type="${type}"><p>Marked</p></section><p>Text</p>` };
    expect(await textOf({ documents })).toBe(text === undefined ? 'Text' : `${text}\n\nText`);
    expect(await textOf({ documents }, { readsAll: true })).toBe('Marked\n\nText');
  });

  it('is a document of the guide, the landmarks or the nav', async () => {
    const documents = { 'a.xhtml': 'Cover', 'b.xhtml': 'Copyright', 'c.xhtml': 'Text' };
    const rest =
      '<guide><reference type="cover" href="a.xhtml"/><reference type="text" href="c.xhtml"/></guide>';
    const nav =
      '<nav epub:type="toc"><ol><li><a href="c.xhtml">Text</a></li></ol></nav><nav epub:type="landmarks"><ol><li><a epub:type="copyright-page" href="b.xhtml">x</a></li></ol></nav>';
    const spine = ['a.xhtml', 'nav', 'b.xhtml', 'c.xhtml'];
    expect(await read({ documents, rest, nav, spine })).toBe('{1 Text}Text');
  });
});

describe('what is not a book', () => {
  it.each([
    ['no archive', Buffer.from('PK nothing'), /damaged/],
    ['an archive without a container', zipOf([{ name: 'a', data: 'b' }]), /container\.xml is missing/],
    ['a book without a spine', epubOf({ documents: { 'a.xhtml': 'x' }, spine: [] }), /reading order/],
    [
      'a book of documents that are missing',
      epubOf({
        documents: {},
        manifest: '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>',
        spine: ['a'],
      }),
      /no text/,
    ],
  ])('is refused with a word: %s', async (_, book, message) => {
    await expect(read(book)).rejects.toThrow(message);
  });
});

async function about(parts: Omit<BookParts, 'documents'>) {
  return (await openBook(epubOf({ documents: { 'a.xhtml': 'Text' }, ...parts }))).about ?? {};
}

it('A book of EPUB 3 says what it is.', async () => {
  const metadata = `<dc:title id="s">A Tale</dc:title><meta refines="#s" property="title-type">subtitle</meta>
    <dc:title id="m"> The
    Book </dc:title><meta refines="#m" property="title-type">main</meta>
    <dc:creator id="i">Ida Illustrator</dc:creator><meta refines="#i" property="role">ill</meta>
    <dc:creator>Ann Author</dc:creator><dc:creator>Ben Author</dc:creator>
    <dc:language>de-AT</dc:language><dc:date>1901-02-03T00:00:00Z</dc:date>
    <dc:description>&lt;p&gt;Of &lt;b&gt;men&lt;/b&gt; &amp;amp; mice.&lt;/p&gt;&lt;p&gt;By&lt;br/&gt;Ann&lt;/p&gt;</dc:description>
    <meta property="belongs-to-collection" id="c">Tales</meta><meta refines="#c" property="group-position">2</meta>`;
  expect(await about({ metadata })).toEqual({
    title: 'The Book',
    author: 'Ann Author, Ben Author',
    language: 'de-AT',
    date: '1901-02-03',
    description: 'Of men & mice. By Ann',
    series: { name: 'Tales', number: '2' },
  });
});

it('A book of EPUB 2 says what it is, and has a cover.', async () => {
  const metadata = `<dc:title>The Book</dc:title><dc:creator opf:role="trl">Tom Translator</dc:creator>
    <dc:creator opf:role="aut">Ann Author</dc:creator><dc:date opf:event="modification">2020</dc:date>
    <dc:date>1901</dc:date><meta name="cover" content="pic"/>
    <meta name="calibre:series" content="Tales"/><meta name="calibre:series_index" content="3.0"/>`;
  const manifest = '<item id="pic" href="c.jpg" media-type="image/jpeg"/>';
  const files = [{ name: 'EPUB/c.jpg', data: 'a picture' }];
  const { cover, ...told } = await about({ metadata, manifest, files });
  expect(told).toMatchObject({
    title: 'The Book',
    author: 'Ann Author',
    date: '1901',
    series: { name: 'Tales', number: '3' },
  });
  expect(String(await cover?.(signal))).toBe('a picture');
});

it('A book may say nothing, and its cover may be missing.', async () => {
  const manifest = '<item id="pic" href="c.jpg" properties="cover-image" media-type="image/jpeg"/>';
  const { cover, ...told } = await about({ manifest });
  expect(Object.values(told).filter((value) => value !== undefined)).toEqual([]);
  expect(await cover?.(signal)).toBeUndefined();
});

const folder = sampleFolder('epub');
/** What each book calls a part that is not read. */
const LEFT_OUT: Readonly<Record<string, readonly RegExp[]>> = {
  'childrens-literature.epub': [/<section\b[^>]*"bibliography"[\s\S]*?<\/section>/],
  'hefty-water.epub': [/<case\b[\s\S]*?<\/case>/],
  'kusamakura.epub': [/表紙\.xhtml$/, /<section[^>]*epub:type="colophon"[\s\S]*<\/section>/],
  'wasteland.epub': [
    /<section\b[^>]*epub:type="titlepage"[\s\S]*?<\/section>/,
    /<section\b[^>]*epub:type="rearnotes"[\s\S]*(?=<\/body>)/,
    /<span\b[^>]*lnum[^>]*>\s*\d+\s*<\/span>/g,
  ],
};

describe.skipIf(folder === undefined)('a published book', () => {
  it.each(samplesIn(folder, '.epub'))('is read word for word: %s', async (name) => {
    const path = join(folder ?? '', name);
    const reading = await openEpub(fileSource(path, '/'), { ...PLAIN, code: 'read' }, signal);
    let text = '';
    for await (const piece of reading.pieces(signal))
      text += piece.kind === 'chapter' ? '\n\n' : writtenOf(piece);
    const expected = wordsOfBook(readFileSync(path), LEFT_OUT[name]);
    // Japanese has no spaces, and its lines are joined.
    const joint = name === 'kusamakura.epub' ? '' : '\n';
    expect(wordsIn(text).join(joint)).toBe(expected.join(joint));
    expect(expected.length).toBeGreaterThan(100);
  });
});
