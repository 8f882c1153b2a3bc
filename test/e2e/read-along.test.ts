import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Archive } from '../../src/read/zip.ts';
import { epubOf, xhtml } from '../support/epub.ts';
import { isThere } from '../support/programs.ts';
import { parseWav } from '../support/read-wav.ts';
import { expectFailure, Sandbox } from '../support/run.ts';

const METADATA =
  '<dc:identifier id="id">urn:x</dc:identifier><dc:title>The Book</dc:title><dc:language>en</dc:language><meta property="dcterms:modified">2026-01-01T00:00:00Z</meta>';
const ONE = xhtml(
  '<h1>One</h1><p class="a">First <i>text. And</i> more &amp; more<a epub:type="noteref" href="#n">1</a>.</p><aside epub:type="footnote" id="n"><p>A note.</p></aside>',
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
}).toString('latin1');

const OPF_2 =
  '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="2.0"><metadata/><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>';
const SMIL = '<item id="s" href="a.smil" media-type="application/smil+xml"/>';

async function filesOf(path: string): Promise<Map<string, string>> {
  const signal = new AbortController().signal;
  using archive = await Archive.open(path, path, signal);
  const files = new Map<string, string>();
  for (const name of archive.paths)
    files.set(name, (await archive.whole(name, 1e9, signal))?.toString('latin1') ?? '');
  return files;
}

async function made(input: string, text: string, args: readonly string[] = []) {
  const box = new Sandbox();
  box.file(input, Buffer.from(text, 'latin1'));
  const run = await box.run(['-q', '-f', input, '-o', 'out.epub', ...args]);
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  return { box, files: await filesOf(box.path('out.epub')) };
}

interface Clip {
  readonly target: string;
  readonly seconds: number;
}

/** All clips, whose text and sound are there and which follow each other without a gap. */
function clipsIn(files: ReadonlyMap<string, string>): Clip[] {
  return [...files].flatMap(([path, text]) => {
    if (!path.endsWith('.smil')) return [];
    let last = 0;
    const PAR =
      /<text src="([^"#]*)#([^"]*)"\/><audio src="([^"]*)" clipBegin="([\d.]+)s" clipEnd="([\d.]+)s"/g;
    return [...text.matchAll(PAR)].map(([, document = '', id, sound = '', begin, end]) => {
      const at = (name: string) => posix.join(posix.dirname(path), name);
      expect(files.has(at(sound))).toBe(true);
      expect(Number(begin)).toBe(last);
      last = Number(end);
      const spoken = new RegExp(`<span id="${id}">(.*?)</span>`, 's').exec(files.get(at(document)) ?? '');
      return { target: spoken?.[1] ?? 'MISSING', seconds: last - Number(begin) };
    });
  });
}

function expectNoError(box: Sandbox): void {
  const jar = '/usr/share/java/epubcheck.jar';
  if (!isThere('java') || !existsSync(jar)) return;
  expect(execFileSync('java', ['-jar', jar, box.path('out.epub')], { stdio: 'pipe' }).toString()).toContain(
    'No errors or warnings',
  );
}

describe('a read-along book', () => {
  it('is the book itself, with an element around each spoken sentence and clips that are all of the sound', async () => {
    const { box, files } = await made('novel.epub', BOOK);
    box.file('novel.epub', Buffer.from(BOOK, 'latin1'));
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
      ' more &amp; more',
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
    expectNoError(box);
  });

  it('is made of plain text and Markdown, too, and the same input makes the same bytes', async () => {
    const text = '# One\n\nFirst *text*. And more & more.\n\nA paragraph.\n\n# Two\n\nSecond text.\n';
    const { box, files } = await made('notes.md', text);
    expect(clipsIn(files).map(({ target }) => target)).toEqual([
      'One.',
      'First text.',
      'And more &amp; more.',
      'A paragraph.',
      'Two.',
      'Second text.',
    ]);
    expect([...files.keys()].filter((path) => path.endsWith('.mp3')).length).toBe(2);
    const first = box.read('out.epub');
    await box.run(['-q', '-f', 'notes.md', '-o', 'out.epub']);
    expect(box.read('out.epub').equals(first)).toBe(true);
    expectNoError(box);
  });

  it('has the chapters that were asked for; what is not read has no overlay', async () => {
    const { files } = await made('novel.epub', BOOK, ['--chapters', '2', '--speed', '1.5']);
    expect(clipsIn(files).map(({ target }) => target)).toEqual(['Two', 'Second text.']);
    expect(files.get('EPUB/text/one.xhtml')).toBe(ONE);
  });

  it.each([
    ['without sound', { opf: OPF_2 }, /is an EPUB 2\.0, and only EPUB 3/],
    ['with a narration', { manifest: SMIL }, /has a narration already/],
    // The text is small, and all files are copied.
    [
      'with a trap beside its text',
      { files: [{ name: 'EPUB/a.bin', data: Buffer.alloc(5 * 2 ** 20) }] },
      /a\.bin in .*novel\.epub unpacks to 5242880 bytes/,
    ],
  ])('is refused for a book %s', async (_, parts, message) => {
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
      }).toString('latin1'),
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
