import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Archive } from '../../src/read/zip.ts';
import { serveText } from '../support/book.ts';
import { type BookParts, epubOf, packageOf, xhtml } from '../support/epub.ts';
import { secondsOf } from '../support/mp3.ts';
import { isThere } from '../support/programs.ts';
import { parseWav } from '../support/read-wav.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';

const METADATA =
  '<dc:identifier id="id">urn:x</dc:identifier><dc:title>The Book</dc:title><dc:language>en</dc:language><meta property="dcterms:modified">2026-01-01T00:00:00Z</meta>';
const ONE = xhtml(
  '<h1>One</h1><p class="a">First <i>text. And</i> more &amp; more.<a epub:type="noteref" href="#n">1</a></p><aside epub:type="footnote" id="n"><p>A note.</p></aside>',
);
const BOOK = epubOf({
  metadata: METADATA,
  documents: {
    'title.xhtml': '<section epub:type="titlepage"><h1>The Book</h1></section>',
    'text/one.xhtml': ONE,
    'text/two.xhtml': '<h1>Two</h1><p>Second text.</p>',
  },
  nav: '<li><a href="text/one.xhtml">One</a></li><li><a href="text/two.xhtml">Two</a></li>',
  files: [{ name: 'EPUB/style.css', data: 'p { color: red; }' }],
  manifest: '<item id="css" href="style.css" media-type="text/css"/>',
});

const NOTES = '# One\n\nFirst *text*. And more & more.\n\nA paragraph.\n\n# Two\n\nSecond text.\n';

/** An EPUB 2 without what the parts say otherwise. */
function opf2(type = 'application/xhtml+xml', version = '2.0'): string {
  return `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="${version}" unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf"><!-- <dc:creator opf:role="aut">Nobody</dc:creator> --><dc:identifier id="id" opf:scheme="UUID">urn:uuid:1</dc:identifier><dc:title>The Old Book</dc:title><dc:creator opf:role="aut" opf:file-as="Doe, Jane">Jane Doe</dc:creator><dc:language>en</dc:language><dc:date opf:event="modification">2011-01-01</dc:date><dc:date opf:event="publication">2010-01-01</dc:date><dc:subject></dc:subject><dc:description><![CDATA[1 < 2]]></dc:description><meta name="cover" content="pic"/></metadata><manifest><item id="a" href="a.xhtml" media-type="${type}"/><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/><item id="pic" href="pic.svg" media-type="image/svg+xml"/><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest><spine toc="ncx"><itemref idref="a"/><itemref idref="b"/></spine></package>`;
}
const OLD = (body: string, ofMeta = '/>') =>
  `<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">\n<html xmlns="http://www.w3.org/1999/xhtml" version="-//W3C//DTD XHTML 1.1//EN"><head><meta http-equiv="Content-Type" content="application/xhtml+xml; charset=utf-8"${ofMeta}<title>T</title></head><body>${body}</body></html>`;
const NCX =
  '<?xml version="1.0"?><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><head><meta content="other" name="dtb:uid"/></head><docTitle><text>T</text></docTitle><navMap><navPoint id="n1" playOrder="1"><navLabel><text>One &amp; all</text></navLabel><content src="a.xhtml"/><navPoint id="n2" playOrder="2"><navLabel><text>Inner</text></navLabel><content src="a.xhtml#in"/></navPoint></navPoint><navPoint id="n3" playOrder="3"><navLabel><text>Two</text></navLabel><content src="b.xhtml"/></navPoint></navMap><pageList><navLabel><text>Pages</text></navLabel><pageTarget id="p1" type="normal" value="7" playOrder="2"><navLabel><text>7</text></navLabel><content src="a.xhtml#in"/></pageTarget><pageTarget id="p2" type="normal" value="8" playOrder="3"><navLabel><text>8</text></navLabel><content src="b.xhtml"/></pageTarget></pageList></ncx>';
const OLD_PARTS = {
  documents: {
    'a.xhtml': OLD('<h1>One</h1><p>First&nbsp;text &amp; caf&eacute;.</p><p id="in">Inner text.</p>'),
    'b.xhtml': OLD('<p>Second <svg xmlns="http://www.w3.org/2000/svg"></svg>text.</p>', '></meta>'),
  },
  files: [
    { name: 'EPUB/toc.ncx', data: NCX },
    { name: 'EPUB/pic.svg', data: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
  ],
};

/** A book of which a person has narrated two documents. */
const SMIL = (document: string, sound: string) =>
  `<smil xmlns="http://www.w3.org/ns/SMIL" version="3.0"><body><par><text src="${document}#h"/><audio src="${sound}" clipBegin="0s" clipEnd="5s"/></par></body></smil>`;
const NARRATED_PARTS: BookParts = {
  metadata: `${METADATA}<meta property="media:duration" refines="#s1">0:00:05</meta><meta property="media:duration" refines="#s2">00:07.5</meta><meta property="media:duration">12.5s</meta><meta property="media:narrator">Jane Doe</meta><meta property="media:active-class">lit</meta>`,
  documents: { 'one.xhtml': '<h1 id="h">One</h1>', 'two.xhtml': '<h1 id="h">Two</h1>' },
  nav: '<li><a href="one.xhtml">One</a></li><li><a href="two.xhtml">Two</a></li>',
  manifest:
    '<item id="s1" href="one.smil" media-type="application/smil+xml"/><item id="s2" href="two.smil" media-type="application/smil+xml"/><item id="m1" href="one.mp3" media-type="audio/mpeg"/><item id="m2" href="two.mp3" media-type="audio/mpeg"/>',
  files: [
    { name: 'EPUB/one.smil', data: SMIL('one.xhtml', 'one.mp3') },
    { name: 'EPUB/two.smil', data: SMIL('two.xhtml', 'two.mp3') },
    { name: 'EPUB/one.mp3', data: 'ID3 one' },
    { name: 'EPUB/two.mp3', data: 'ID3 two' },
  ],
};
const NARRATED = epubOf({
  ...NARRATED_PARTS,
  opf: packageOf(NARRATED_PARTS)
    .replace('href="one.xhtml"', 'href="one.xhtml" media-overlay="s1"')
    .replace('href="two.xhtml"', 'href="two.xhtml" media-overlay="s2"'),
});

function bookOf(body: string, files: BookParts['files'] = []): Buffer {
  return epubOf({ documents: { 'one.xhtml': body }, files });
}

async function filesOf(path: string): Promise<Map<string, string>> {
  const signal = new AbortController().signal;
  using archive = await Archive.open(path, path, signal);
  const files = new Map<string, string>();
  for (const name of archive.paths) files.set(name, await latin1Of(archive.copied(name, signal)));
  return files;
}

async function latin1Of(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

async function made(input: string, content: string | Buffer, args: readonly string[] = []) {
  const box = new Sandbox();
  box.file(input, content);
  const run = await box.run(['-q', '-f', input, '-o', 'out.epub', ...args]);
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  return { box, files: await filesOf(box.path('out.epub')) };
}

interface Clip {
  readonly target: string;
  readonly seconds: number;
}

/** All clips, whose text and sound are there, and which follow each other without a gap and are all of the sound. */
function clipsIn(files: ReadonlyMap<string, string>): Clip[] {
  return [...files].flatMap(([path, text]) => {
    if (!path.endsWith('.smil')) return [];
    let last = 0;
    let heard = '';
    const PAR =
      /<text src="([^"#]*)#([^"]*)"\/><audio src="([^"]*)" clipBegin="([\d.]+)s" clipEnd="([\d.]+)s"/g;
    const clips = [...text.matchAll(PAR)].map(([, document = '', id, sound = '', begin, end]) => {
      const at = (name: string) => posix.join(posix.dirname(path), name);
      expect(Number(begin)).toBe(last);
      last = Number(end);
      heard = at(sound);
      const spoken = new RegExp(`<span id="${id}">(.*?)</span>`, 's').exec(files.get(at(document)) ?? '');
      return { target: spoken?.[1] ?? 'MISSING', seconds: last - Number(begin) };
    });
    if (clips.length > 0)
      expect(last).toBeCloseTo(secondsOf(Buffer.from(files.get(heard) ?? '', 'latin1')), 5);
    return clips;
  });
}

/** The clips of the first document that are notes: their names and kinds. */
function notesIn(files: ReadonlyMap<string, string>): string[][] {
  const smil = files.get('tts-read-along/0001.smil') ?? '';
  return [...smil.matchAll(/<par id="([^"]*)" epub:type="([^"]*)"/g)].map((each) => each.slice(1));
}

/** Asks EPUBCheck, which takes seconds: for a book of each kind that is made. */
function expectNoError(box: Sandbox): void {
  const jar = '/usr/share/java/epubcheck.jar';
  if (!isThere('java') || !existsSync(jar)) return;
  // A run this short ends before what Java's second compiler costs is worth it.
  const line = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-jar', jar, box.path('out.epub')];
  expect(execFileSync('java', line, { stdio: 'pipe' }).toString()).toMatch(
    /No errors or warnings|0 fatals \/ 0 errors/,
  );
}

describe('a read-along book', () => {
  it('is the book itself, with an element around each spoken sentence and clips that are all of the sound', async () => {
    const { box, files } = await made('novel.epub', BOOK);
    const before = await filesOf(box.path('novel.epub'));
    const changed = [...before.keys()].filter((path) => before.get(path) !== files.get(path));
    expect(changed).toEqual(['EPUB/book.opf', 'EPUB/text/one.xhtml', 'EPUB/text/two.xhtml']);
    const one = files.get('EPUB/text/one.xhtml') ?? '';
    expect(one.replace(/<span id="tts-\d+">|<\/span>|<link [^>]*>/g, '')).toBe(ONE);
    const clips = clipsIn(files);
    expect(clips.map(({ target }) => target)).toEqual([
      'One',
      'First ',
      'text.',
      'And',
      ' more &amp; more.',
      'Two',
      'Second text.',
    ]);
    await box.run(['-q', '-f', 'novel.epub', '-o', 'out.wav']);
    const { dataSize, blockAlign, sampleRate } = parseWav(box.read('out.wav'));
    const sum = clips.reduce((all, { seconds }) => all + seconds, 0);
    expect(sum).toBeCloseTo(dataSize / blockAlign / sampleRate, 4);
    const opf = files.get('EPUB/book.opf') ?? '';
    expect(Number(/"media:duration">([\d.]+)s/.exec(opf)?.[1])).toBeCloseTo(sum, 4);
    expect(opf).toContain('<meta property="media:narrator">rms</meta>');
  });

  it.each([
    ['an EPUB 3', 'novel.epub', BOOK],
    ['an EPUB 2', 'old.epub', epubOf({ ...OLD_PARTS, opf: opf2() })],
    ['Markdown', 'notes.md', NOTES],
  ])('is made with the same bytes of the same input: %s', async (_, name, text) => {
    const { box } = await made(name, text);
    const first = box.read('out.epub');
    box.file(`else/where/${name}`, text);
    await box.tts(`-q -f else/where/${name} -o again.epub`, { env: { TZ: 'Pacific/Apia' } });
    expect(box.read('again.epub').equals(first)).toBe(true);
  });

  it.each([
    ['--loudness -30'],
    ['--loudness -12 --speed 1.3'],
    ['--speed 0.7 --pauses sentence=0.5,paragraph=1'],
    ['--voices Bob=slt --loudness -20'],
    ['--bitrate 32k -r 24000'],
  ])('has clips that are all of its sound with %s', async (options) => {
    const book = bookOf('<h1>One</h1><p>Bob: First text. Second text.</p><p>More.</p>');
    const { files } = await made('novel.epub', book, options.split(' '));
    const bob = options.includes('Bob') ? 'First text.' : 'Bob: First text.';
    expect(clipsIn(files).map(({ target }) => target)).toEqual(['One', bob, 'Second text.', 'More.']);
    expect(files.get('EPUB/one.xhtml')).toContain('Bob: ');
  });

  it('is made of plain text and Markdown, too', async () => {
    const { box, files } = await made('notes.md', NOTES);
    expect(clipsIn(files).map(({ target }) => target)).toEqual([
      'One',
      'First text.',
      'And more &amp; more.',
      'A paragraph.',
      'Two',
      'Second text.',
    ]);
    expect([...files.keys()].filter((path) => path.endsWith('.mp3')).length).toBe(2);
    expect(files.get('EPUB/book.opf')).toContain('<dc:title>notes</dc:title>');
    expectNoError(box);
  });

  it('has the chapters that were asked for; what is not read has no overlay', async () => {
    const { files } = await made('novel.epub', BOOK, ['--chapters', '2', '--speed', '1.5']);
    expect(clipsIn(files).map(({ target }) => target)).toEqual(['Two', 'Second text.']);
    expect(files.get('EPUB/text/one.xhtml')).toBe(ONE);
  });

  it('is an EPUB 3 of an EPUB 2, with a nav and page numbers from its NCX', async () => {
    const book = epubOf({ ...OLD_PARTS, opf: opf2() });
    const { box, files } = await made('old.epub', book, ['--chapters', '1-2']);
    expect(clipsIn(files).map(({ target }) => target)).toEqual([
      'One',
      Buffer.from('First\u00a0text &amp; café.').toString('latin1'),
      'Inner text.',
    ]);
    const nav = files.get('tts-read-along/nav.xhtml') ?? '';
    expect(
      [...nav.matchAll(/href="([^"]*)">([^<]*)|(<\/?ol>)|epub:type="page-list"/g)].map(([all]) => all),
    ).toEqual([
      '<ol>',
      'href="../EPUB/a.xhtml">One &amp; all',
      '<ol>',
      'href="../EPUB/a.xhtml#in">Inner',
      '</ol>',
      'href="../EPUB/b.xhtml">Two',
      '</ol>',
      'epub:type="page-list"',
      '<ol>',
      'href="../EPUB/a.xhtml#in">7',
      'href="../EPUB/b.xhtml">8',
      '</ol>',
    ]);
    expect(files.get('EPUB/b.xhtml')).toContain('<!DOCTYPE html>');
    expect(files.get('EPUB/b.xhtml')).not.toContain('meta>');
    const opf = files.get('EPUB/book.opf') ?? '';
    expect(opf).toMatch(/version="3\.0"/);
    expect(opf).toContain('property="file-as">Doe, Jane</meta>');
    expect(opf).toContain('<dc:date>2010-01-01</dc:date>');
    expect(opf).toContain('<dc:description><![CDATA[1 < 2]]></dc:description>');
    expect(files.get('EPUB/toc.ncx')).toContain('content="urn:uuid:1"');
    expectNoError(box);
  });

  it('goes on where an earlier run ended', async () => {
    const { box, files: first } = await made('novel.epub', BOOK, ['--chapters', '1', '--footnotes', 'read']);
    expect(notesIn(first)).toEqual([['p6', 'footnote']]);
    const { box: next, files } = await made('first.epub', box.read('out.epub'), ['--chapters', '2']);
    const paths = [...files.keys()].filter((path) => path.endsWith('.smil'));
    expect(paths).toEqual(['tts-read-along/0001.smil', 'tts-read-along-2/0001.smil']);
    expect(clipsIn(files).map(({ target }) => target)).toEqual([
      ...clipsIn(first).map(({ target }) => target),
      'Two',
      'Second text.',
    ]);
    const opf = files.get('EPUB/book.opf') ?? '';
    const ids = [...opf.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expectNoError(next);
    const { files: again } = await made('again.epub', next.read('out.epub'));
    const styles = [...again.keys()].filter((path) => path.endsWith('active.css'));
    expect(styles).toEqual(['tts-read-along/active.css']);
    expect([...again.values()].join('').match(/active\.css/g)).toHaveLength(3);
  });

  it('holds a film or a font of any size, to the byte', async () => {
    const film = Buffer.alloc(65 * 2 ** 20, 'a frame of the film');
    const book = bookOf('<p>One.</p>', [{ name: 'EPUB/film.mp4', data: film, isStored: true }]);
    const { files } = await made('novel.epub', book);
    expect(Buffer.from(files.get('EPUB/film.mp4') ?? '', 'latin1').equals(film)).toBe(true);
  });

  it('has a style that is found whatever the document is relative to', async () => {
    const text = xhtml('<p>One.</p>').replace('<head>', '<head><base href="../other/"/>');
    const { files } = await made('novel.epub', bookOf(text));
    expect(files.get('EPUB/one.xhtml')).toMatch(/<style>\.tts-active \{[^}]*\}\n<\/style><\/head>/);
  });

  it('lights a note that is read at its reference where it stands, and says that it is one', async () => {
    const note = '<aside epub:type="footnote" id="n"><p>A note.</p></aside>';
    const text = `<p>One.<a epub:type="noteref" href="#n">1</a> Two.</p><p>Three.</p>${note}<p>Four.</p>`;
    const { files } = await made('novel.epub', bookOf(text), ['--footnotes', 'read']);
    const targets = clipsIn(files).map(({ target }) => target);
    expect(targets).toEqual(['One.', 'A note.', 'Two.', 'Three.', 'Four.']);
    expect(notesIn(files)).toEqual([['p2', 'footnote']]);
  });

  it('replaces a narration only where it has a new one', async () => {
    const soundsIn = (files: ReadonlyMap<string, string>) =>
      [...files.keys()].filter((path) => /\.(?:smil|mp3)$/.test(path));
    const { files: part } = await made('novel.epub', NARRATED, ['--chapters', '1']);
    expect(soundsIn(part).toSorted()).toEqual([
      'EPUB/two.mp3',
      'EPUB/two.smil',
      'tts-read-along/0001.mp3',
      'tts-read-along/0001.smil',
    ]);
    const opf = part.get('EPUB/book.opf') ?? '';
    const durations = [...opf.matchAll(/"media:duration"[^>]*>([^<]*)/g)].map(([, each]) => each);
    expect(durations).toHaveLength(3);
    expect(Number.parseFloat(durations[2] ?? '')).toBeCloseTo(7.5 + Number.parseFloat(durations[1] ?? ''), 4);
    expect([...opf.matchAll(/"media:(?:narrator|active-class)">[^<]*/g)].map(([all]) => all)).toEqual([
      '"media:narrator">Jane Doe',
      '"media:narrator">rms',
      '"media:active-class">lit',
    ]);
    expect(part.get('tts-read-along/active.css')).toContain('.lit {');
    const { files: all } = await made('novel.epub', NARRATED);
    expect(soundsIn(all).every((path) => path.startsWith('tts-read-along/'))).toBe(true);
    expect(all.get('EPUB/book.opf')).not.toMatch(/Jane Doe|"s1"|one\.mp3/);
  });

  it.each([
    ['an EPUB 1', { opf: opf2(undefined, '1.2') }, /is an EPUB 1\.2, and only EPUB 3/],
    [
      'documents of DTBook',
      { ...OLD_PARTS, opf: opf2('application/x-dtbook+xml') },
      /a\.xhtml is application/,
    ],
    ['no NCX', { opf: opf2() }, /it has no table of contents \(NCX\)/],
    // The text is small, and all files are copied.
    [
      'a trap beside its text',
      { files: [{ name: 'EPUB/a.bin', data: Buffer.alloc(5 * 2 ** 20) }] },
      /a\.bin in .*novel\.epub unpacks to 5242880 bytes/,
    ],
  ])('is refused for a book with %s', async (_, parts, message) => {
    const box = new Sandbox();
    box.file('novel.epub', epubOf({ documents: { 'a.xhtml': '<p>A.</p>' }, ...parts }));
    expectFailure(await box.run(['-f', 'novel.epub', '-o', 'out.epub']), 2, message);
    expect(existsSync(box.path('out.epub'))).toBe(false);
  });

  it('keeps no file that leaves its folder, and its own files where the book has some of the same names', async () => {
    const { files } = await made(
      'novel.epub',
      epubOf({
        metadata: METADATA,
        documents: { 'a.xhtml': '<p>Hello.</p>' },
        files: [
          { name: '../a', data: 'x' },
          { name: '/b', data: 'x' },
          { name: Buffer.from('..\\\xff', 'latin1'), data: 'x', flags: 0 },
          { name: '', data: 'x' },
          { name: 'tts-read-along/0001.mp3', data: 'x' },
          { name: 'tts-read-along/0001.smil', data: 'x' },
        ],
      }),
    );
    const added = [...files.keys()].filter((path) => !/^(?:mimetype|META-INF\/|EPUB\/)/u.test(path));
    expect(added.sort()).toEqual([
      'tts-read-along-2/0001.mp3',
      'tts-read-along-2/0001.smil',
      'tts-read-along-2/active.css',
      'tts-read-along/0001.mp3',
      'tts-read-along/0001.smil',
    ]);
    expect(files.get('tts-read-along/0001.mp3')).toBe('x');
    expect(clipsIn(files).map(({ target }) => target)).toEqual(['Hello.']);
  });

  it('comes from the cache, and a changed sentence costs one request', async () => {
    const server = await serveText();
    const box = new Sandbox();
    const speak = async (book: Buffer) => {
      box.file('novel.epub', book);
      const env = named(server.url, { TTS_CACHE: '1' });
      expect((await box.run(['-q', '-f', 'novel.epub', '-o', 'out.epub'], { env })).status).toBe(0);
      return server.requests;
    };
    const before = await speak(bookOf('<p>One here. Two here. Three here.</p>'));
    expect(await speak(bookOf('<p>One here. Two there. Three here.</p>'))).toBe(before + 1);
  });

  it('holds what a hostile book holds', async () => {
    const body = `<p>${'<i>'.repeat(100)}Deep.${'</i>'.repeat(100)} ${'<b>a</b> '.repeat(100)}</p><p>Open <i>and <b>crossed</i> here</b>.`;
    const outside = { name: '../out.txt', data: 'no' };
    const { files } = await made('novel.epub', bookOf(body, [outside]));
    expect([...files.keys()].filter((path) => path.includes('..'))).toEqual([]);
    const one = files.get('EPUB/one.xhtml') ?? '';
    expect(one.replace(/<span id="tts-\d+">|<\/span>|<link [^>]*>/g, '')).toBe(xhtml(body));
  });

  it('has no markup of the language that a document names', async () => {
    const about = '<title-info><book-title>T</book-title><lang>en" onload="f()&lt;</lang></title-info>';
    const body = '<body><section><p>Hello.</p></section></body>';
    const { files } = await made(
      'a.fb2',
      `<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description>${about}</description>${body}</FictionBook>`,
    );
    const texts = ['EPUB/chapter-0001.xhtml', 'EPUB/nav.xhtml', 'EPUB/book.opf'].map((path) =>
      files.get(path),
    );
    const language = 'xml:lang="en&quot; onload=&quot;f()&lt;"';
    expect(texts).toEqual(Array(3).fill(expect.stringContaining(language)));
  });

  it('is not made of rows and parts, and leaves no file where it fails', async () => {
    const box = new Sandbox();
    box.file('rows.csv', 'id,text\na,Hello\n');
    expectFailure(
      await box.run(['batch', 'rows.csv', '-o', '{id}.epub']),
      2,
      /a read-along book is made of one text/,
    );
    expectFailure(await box.run(['Hello', '--encode', 'epub']), 2, /epub can only be written to a file/);
  });
});
