import { describe, expect, it } from 'vitest';
import { readerFor } from '../../../src/read/readers.ts';
import type { ReadOptions } from '../../../src/read/reading.ts';
import { zipOf } from '../../support/zip.ts';
import { fileOf, PLAIN, signal, written } from './spoken.ts';

async function read(
  bytes: Buffer,
  { format = 'auto', ...options }: Partial<ReadOptions> & { readonly format?: 'auto' | 'fb2' } = {},
) {
  const reading = await readerFor('', format, { ...PLAIN, ...options })(fileOf(bytes), signal);
  const text = (await written(reading.pieces(signal))).trim().replace(/[^\S\n]*\n\s*\n\s*/gu, '\n\n');
  return { text, about: reading.about };
}

const SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

/** A Word document with these paragraphs. */
function docx(body: string, files: Readonly<Record<string, string>> = {}): Buffer {
  const styles = ['heading 1', 'heading 2', 'Title', 'toc 1', 'List Bullet 2', 'TOC Heading', 'caption'].map(
    (name, at) => `<w:style w:styleId="s${at}"><w:name w:val="${name}"/></w:style>`,
  );
  const based = '<w:style w:styleId="mine"><w:name w:val="Mine"/><w:basedOn w:val="s0"/></w:style>';
  const outlined =
    '<w:style w:styleId="out"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>';
  const all = {
    '[Content_Types].xml': '<Types/>',
    'word/document.xml': `<?xml version="1.0"?><w:document ${SPACE}><w:body>${body}</w:body></w:document>`,
    'word/styles.xml': `<w:styles ${SPACE}>${styles.join('')}${based}${outlined}</w:styles>`,
    ...files,
  };
  return zipOf(Object.entries(all).map(([name, data]) => ({ name, data })));
}

const run = (text: string, set = '') =>
  `<w:r><w:rPr>${set}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (text: string, set = '') => `<w:p><w:pPr>${set}</w:pPr>${run(text)}</w:p>`;
const styled = (style: string, text: string) => paragraph(text, `<w:pStyle w:val="${style}"/>`);

describe('a Word document', () => {
  it.each<readonly [what: string, body: string, spoken: string]>([
    [
      'runs of a word',
      `<w:p>${run('Hel')}${run('lo.', '<w:b/>')}</w:p>${paragraph('Bye.')}`,
      'Hello.\n\nBye.',
    ],
    [
      'headings',
      styled('s0', 'The Hill') + styled('s1', 'Up') + paragraph('A.'),
      '{2 Up}The Hill.\n\nUp.\n\nA.',
    ],
    ['a style of a heading', styled('mine', 'The Hill') + paragraph('A.'), '{1 The Hill}The Hill.\n\nA.'],
    ['a level of the outline', styled('out', 'The Hill') + paragraph('A.'), '{2 The Hill}The Hill.\n\nA.'],
    [
      'a level at a paragraph',
      paragraph('The Hill', '<w:outlineLvl w:val="0"/>') + paragraph('A.'),
      '{1 The Hill}The Hill.\n\nA.',
    ],
    ['a level of text', paragraph('A', '<w:outlineLvl w:val="9"/>'), 'A'],
    ['a title', styled('s2', 'The Book') + paragraph('A.'), '{1 The Book}The Book.\n\nA.'],
    ['a style that is not described', styled('Heading2', 'Up') + paragraph('A.'), '{2 Up}Up.\n\nA.'],
    ['a style of a list', styled('s4', 'One') + styled('s4', 'Two'), 'One.\nTwo.'],
    ['contents', styled('s5', 'Contents') + styled('s3', 'The Hill 3') + paragraph('A.'), 'A.'],
    [
      'an equation of one line',
      `<w:p>${run('For ')}<m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath>${run('.')}</w:p>`,
      'For x=1.',
    ],
    [
      'an equation with a fraction',
      `<w:p>${run('For ')}<m:oMath><m:r><m:t>x=</m:t></m:r><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>${run('.')}</w:p>`,
      'For formula.',
    ],
    [
      'contents without a style, as of Google Docs',
      `<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr><w:sdtContent>${paragraph('The Hill 3')}${paragraph('Home 4')}</w:sdtContent></w:sdt>${paragraph('A.')}`,
      'A.',
    ],
    [
      'the name of contents outside a form of content',
      paragraph('A.', '<w:docPartGallery w:val="Table of Contents"/>') + paragraph('B.'),
      'A.\n\nB.',
    ],
    ['a caption', styled('s6', 'Figure 1') + paragraph('A.'), 'Figure 1.\n\nA.'],
    [
      'a list',
      ['One', 'Two'].map((text) => paragraph(text, '<w:numPr><w:ilvl w:val="0"/></w:numPr>')).join(''),
      'One.\nTwo.',
    ],
    [
      'a table',
      `<w:tbl><w:tr><w:tc>${paragraph('A')}</w:tc><w:tc>${paragraph('B')}</w:tc></w:tr></w:tbl>`,
      'A, B.',
    ],
    [
      'what was deleted and inserted',
      `<w:p><w:del>${run('old').replaceAll('w:t', 'w:delText')}</w:del><w:ins>${run('new')}</w:ins></w:p>`,
      'new',
    ],
    [
      'what was moved',
      `<w:p><w:moveFrom>${run('here')}</w:moveFrom><w:moveTo>${run('there')}</w:moveTo></w:p>`,
      'there',
    ],
    [
      'hidden text',
      `<w:p>${run('seen')}${run('hidden', '<w:vanish/>')}${run(' too', '<w:vanish w:val="0"/>')}</w:p>`,
      'seen too',
    ],
    [
      'what another format had hidden, or made a heading',
      `<w:p><w:pPr><w:pPrChange><w:pPr><w:pStyle w:val="s0"/></w:pPr></w:pPrChange></w:pPr>${run('seen', '<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>')}</w:p>`,
      'seen',
    ],
    [
      'a text with its reading above it',
      `<w:p><w:r><w:ruby><w:rt>${run('とうきょう')}</w:rt><w:rubyBase>${run('東京')}</w:rubyBase></w:ruby></w:r>${run('です。')}</w:p>`,
      '東京です。',
    ],
    ['a field', `<w:p><w:r><w:instrText>PAGE</w:instrText></w:r>${run('3')}</w:p>`, '3'],
    ['a link', `<w:p>${run('See ')}<w:hyperlink>${run('this')}</w:hyperlink>.</w:p>`, 'See this'],
    ['lines and tabs', `<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>`, 'a b\nc'],
    ['tab stops', paragraph('a', '<w:tabs><w:tab w:val="left"/></w:tabs>'), 'a'],
    [
      'a hyphen that does not divide',
      '<w:p><w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t><w:softHyphen/></w:r></w:p>',
      'a‑b',
    ],
    [
      'a picture',
      `<w:p><w:r><w:drawing><wp:docPr id="1" descr="A &quot;red&quot; hill"/></w:drawing></w:r></w:p>`,
      'A "red" hill',
    ],
    [
      'a text box, once',
      `<w:p>${run('a')}<mc:AlternateContent><mc:Choice><w:txbxContent>${paragraph('box')}</w:txbxContent></mc:Choice><mc:Fallback>${paragraph('box')}</mc:Fallback></mc:AlternateContent></w:p>`,
      'a\n\nbox',
    ],
    ['signs of HTML', paragraph('1 &lt; 2 &amp;amp; &lt;b&gt;'), '1 < 2 &amp; <b>'],
    ['a form of content', `<w:sdt><w:sdtContent>${paragraph('A.')}</w:sdtContent></w:sdt>`, 'A.'],
  ])('is read: %s', async (_, body, spoken) => {
    expect((await read(docx(body), { hasChapters: spoken.startsWith('{') })).text).toBe(spoken);
  });

  const note = (kind: string) =>
    `<w:${kind}s ${SPACE}><w:${kind} w:type="separator" w:id="-1">${paragraph('LINE')}</w:${kind}><w:${kind} w:id="2">${paragraph('A note.')}</w:${kind}></w:${kind}s>`;
  it.each(['footnote', 'endnote'])('has notes where they are referred to: %s', async (kind) => {
    const body = `<w:p>${run('Up.')}<w:r><w:${kind}Reference w:id="2"/></w:r>${run(' Down.')}</w:p>`;
    const book = docx(body, { [`word/${kind}s.xml`]: note(kind) });
    expect((await read(book)).text).toBe('Up. Down.');
    expect((await read(book, { readsNotes: true })).text).toBe('Up. A note. Down.');
  });

  it('says its title and author, and reads its contents where all is asked for', async () => {
    const core =
      '<cp:coreProperties><dc:title>The &amp; Hill</dc:title><dc:creator>Ann</dc:creator></cp:coreProperties>';
    const book = docx(styled('s3', 'The Hill'), { 'docProps/core.xml': core });
    expect(await read(book, { readsAll: true })).toEqual({
      text: 'The Hill',
      about: { title: 'The & Hill', author: 'Ann' },
    });
  });

  it('has its parts under the names that it gives them', async () => {
    const relations = (targets: Readonly<Record<string, string>>) =>
      `<Relationships>${Object.entries(targets)
        .map(([kind, target]) => `<Relationship Type="http://x/relationships/${kind}" Target="${target}"/>`)
        .join('')}</Relationships>`;
    const reference = '<w:r><w:footnoteReference w:id="2"/></w:r>';
    const book = zipOf(
      Object.entries({
        '[Content_Types].xml': '<Types/>',
        '_rels/.rels': relations({ officeDocument: '/word/document2.xml' }),
        'word/document2.xml': `<w:document ${SPACE}><w:body>${styled('s0', 'The Hill')}<w:p>${run('Up.')}${reference}</w:p></w:body></w:document>`,
        'word/_rels/document2.xml.rels': relations({ styles: 'styles2.xml', footnotes: '/word/notes.xml' }),
        'word/styles2.xml': `<w:styles ${SPACE}><w:style w:styleId="s0"><w:name w:val="heading 1"/></w:style></w:styles>`,
        'word/notes.xml': note('footnote'),
      }).map(([name, data]) => ({ name, data })),
    );
    const { text } = await read(book, { hasChapters: true, readsNotes: true });
    expect(text).toBe('{1 The Hill}The Hill.\n\nUp. A note.');
  });

  it('that is locked, or is no archive, says what it is', async () => {
    const opened = readerFor('x.docx', 'docx', PLAIN)(fileOf(Buffer.from('d0cf11e0a1b11ae1', 'hex')), signal);
    await expect(opened).rejects.toThrow(/it is an old Word document \(\.doc\), or one that is locked/);
    const page = readerFor('x.epub', 'epub', PLAIN)(fileOf(Buffer.from('<!doctype html><p>Sign in')), signal);
    await expect(page).rejects.toThrow(/it is HTML/);
  });

  it('is not any other archive of Office', async () => {
    const table = zipOf([
      { name: '[Content_Types].xml', data: '' },
      { name: 'xl/workbook.xml', data: '' },
    ]);
    await expect(read(table)).rejects.toThrow(/it is a ZIP file without a Word document/);
  });
});

/** A FictionBook with this body. */
function fb2(body: string, after = ''): Buffer {
  const author = '<author><first-name>Ann</first-name><last-name>Author</last-name></author>';
  const about = `<description><title-info>${author}<book-title>A Tale</book-title><annotation><p>Short.</p></annotation><lang>en</lang></title-info></description>`;
  return Buffer.from(
    `<?xml version="1.0" encoding="utf-8"?>\n<FictionBook xmlns:l="http://www.w3.org/1999/xlink">${about}<body>${body}</body>${after}</FictionBook>`,
  );
}

const section = (title: string, text: string) => `<section><title>${title}</title><p>${text}</p></section>`;

describe('a FictionBook', () => {
  it.each<readonly [what: string, body: string, spoken: string]>([
    [
      'sections',
      section('<p>The Hill</p>', 'It was a hill.') + section('<p>The Sea</p>', 'It was a sea.'),
      '{2 The Hill}The Hill.\n\nIt was a hill.\n\n{2 The Sea}The Sea.\n\nIt was a sea.',
    ],
    [
      'a number and its title',
      section('<p>I</p><p>The Hill</p>', 'It was quite a hill.'),
      '{2 I. The Hill}I.\n\nThe Hill.\n\nIt was quite a hill.',
    ],
    [
      'a title of two lines',
      section('<p>The Hill</p><p>and more</p>', 'It was quite a hill, and more.'),
      '{2 The Hill and more}The Hill\nand more.\n\nIt was quite a hill, and more.',
    ],
    [
      'a part',
      `<section><title><p>Part One</p></title>${section('<p>The Hill</p>', 'It was a hill.')}</section>`,
      '{2 Part One. The Hill}Part One.\n\nThe Hill.\n\nIt was a hill.',
    ],
    ['a subtitle', '<section><subtitle>Up</subtitle><p>A.</p></section>', 'Up.\n\nA.'],
    [
      'a poem',
      '<poem><stanza><v>Up the hill</v><v>we go</v></stanza><text-author>Ann</text-author></poem>',
      'Up the hill\nwe go\n\nAnn',
    ],
    [
      'an epigraph and a quotation',
      '<epigraph><p>Go.</p></epigraph><cite><p>Come.</p></cite>',
      'Go.\n\nCome.',
    ],
    ['emphasis', '<p>We <emphasis>go</emphasis>, <strong>now</strong>.</p>', 'We go, now.'],
    ['an empty line', '<p>A.</p><empty-line/><p>B.</p>', 'A.\n\nB.'],
    ['a picture', '<p>A <image l:href="#x" alt="red hill"/>.</p>', 'A red hill.'],
    ['a table', '<table><tr><th>A</th><td>B</td></tr></table>', 'A, B.'],
    ['signs of HTML', '<p>1 &lt; 2 &amp; 3</p>', '1 < 2 & 3'],
  ])('is read: %s', async (_, body, spoken) => {
    const { text, about } = await read(fb2(body), { hasChapters: spoken.startsWith('{') });
    expect(text).toBe(spoken);
    expect(about).toEqual({ title: 'A Tale', author: 'Ann Author', language: 'en' });
  });

  it('has notes where they are referred to, and no pictures as text', async () => {
    const notes =
      '<body name="notes"><title><p>Notes</p></title><section id="n1"><title><p>1</p></title><p>A note.</p></section></body><binary id="x">QUJD</binary>';
    const book = fb2('<p>Up.<a l:href="#n1" type="note">[1]</a> Down.</p>', notes);
    expect((await read(book)).text).toBe('Up. Down.');
    expect((await read(book, { readsNotes: true })).text).toBe('Up. A note. Down.');
  });

  it('may be in an archive', async () => {
    const name = 'Ann Author - A Tale with a name that is quite long.fb2';
    const packed = zipOf([{ name, data: fb2('<p>Up.</p>') }]);
    expect((await read(packed)).text).toBe('Up.');
    const two = zipOf([
      { name, data: fb2('<p>Up.</p>') },
      { name: 'b.FB2', data: fb2('<p>Up.</p>') },
    ]);
    await expect(read(two)).rejects.toThrow(/holds 2 books/);
    await expect(read(zipOf([{ name: 'a.txt', data: 'x' }]), { format: 'fb2' })).rejects.toThrow(
      /it is a ZIP file without a FictionBook/,
    );
  });

  it('may be in another encoding', async () => {
    const book = fb2('<p>Caf\u00e9</p>').toString().replace('utf-8', 'windows-1252');
    expect((await read(Buffer.from(book, 'latin1'))).text).toBe('Café');
  });
});
