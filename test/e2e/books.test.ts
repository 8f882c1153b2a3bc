import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { decoded } from '../support/decoded.ts';
import { epubOf } from '../support/epub.ts';
import { complete } from '../support/http-bytes.ts';
import { readId3, textOf } from '../support/mp3.ts';
import { pdfOf } from '../support/pdf.ts';
import { isThere } from '../support/programs.ts';
import { expectFailure, named, type RunOptions, Sandbox } from '../support/run.ts';
import { smallDisk } from '../support/small-disk.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(200));

const BOOK = epubOf({
  documents: {
    'title.xhtml': '<section epub:type="titlepage"><h1>The Book</h1></section>',
    'one.xhtml':
      '<h1>One</h1><p>First<a epub:type="noteref" href="#n">1</a> text.</p><aside epub:type="footnote" id="n">Note.</aside>',
    'two.xhtml': '<h1>Two</h1><p>Second text.</p>',
  },
  nav: '<li><a href="one.xhtml">One</a></li><li><a href="two.xhtml">Two</a></li>',
});

async function run(args: readonly string[], options: RunOptions = {}) {
  const server = await serveBytes(complete(wav));
  const box = new Sandbox();
  box.file('novel.epub', BOOK);
  box.file('notes.md', '# A\n\na\n\n# B\n\nb\n');
  const ended = await box.run(args, { ...options, env: { ...named(server.url), TTS_CACHE: '0' } });
  return { ended, box, spoken: server.requests.map(({ json }) => (json as { text: string }).text) };
}

describe('a book', () => {
  it('is spoken chapter by chapter, and the run says what it left out', async () => {
    const { ended, spoken } = await run(['-f', 'novel.epub', '-o', 'novel.wav', '--concurrency', '1']);
    expect(ended.status).toBe(0);
    expect(spoken.join(' ')).toBe('One. First text. Two. Second text.');
    expect(ended.stderr).toBe(
      [
        'tts: the chapters are those of the table of contents (nav)',
        'tts: left out: title page; --all reads what is left out',
        'tts: 1 note is not read; --footnotes read reads it where it is referred to',
        '',
      ].join('\n'),
    );
  });

  it('needs no -f where its name is the only word', async () => {
    const { ended, spoken, box } = await run(['novel.epub', '-o', 'novel.mp3', '--concurrency', '1']);
    expect(spoken.join(' ')).toBe('One. First text. Two. Second text.');
    expect(ended.stderr).toMatch(/^tts: novel\.epub is a file, so its text is spoken; /);
    expect(box.list()).toContain('novel.mp3');
  });

  it('comes through a pipe, and gives only the chapters that were asked for', async () => {
    const args = '--chapters 2 --no-titles -q -o x.wav --subtitles x.json'.split(' ');
    const { box, spoken } = await run(args, { stdin: BOOK });
    expect(spoken).toEqual(['Second text.']);
    const { cues } = JSON.parse(box.read('x.json').toString());
    expect(cues).toMatchObject([{ text: 'Second text.', chapter: 'Two' }]);
    const missing = await run(['-f', 'novel.epub', '--chapters', '1,3-4']);
    expectFailure(missing.ended, 2, /there is no chapter 4: the text has 2 of them/);
    expect(missing.spoken).toEqual([]);
  });

  it('that is none is refused with a sentence', async () => {
    const box = new Sandbox();
    box.file('x.epub', 'PK\x03\x04 and no more');
    expectFailure(await box.run('-f x.epub'), 2, /cannot read x\.epub: the book is damaged/);
  });
});

it('A folder for temporary files that is full ends the run with a sentence.', async ({ skip }) => {
  const box = new Sandbox();
  const TMPDIR = smallDisk(box, 'full', 'size=64k', skip);
  const stdin = Buffer.concat([BOOK, Buffer.alloc(200_000)]);
  const full = await box.run('--format epub -o out.wav', { stdin, env: { TMPDIR } });
  expectFailure(full, 8, /cannot write .*\/full\/tts-book-\S+: no space is left.*\nhint: .*TMPDIR/);
});

describe('a web page', () => {
  it('is read without its menus, from a pipe as well', async () => {
    const page =
      '<!doctype html><title>T</title><nav>Menu</nav><main><h1>Head</h1><p>Text</main><footer>Foot';
    const { ended, spoken } = await run([], { stdin: page });
    expect(ended.stderr).toBe('');
    expect(spoken.join(' ').replace(/\s+/g, ' ')).toBe('Head. Text');
  });
});

describe('a text with form feeds', () => {
  it('has a chapter for each page where chapters are asked for', async () => {
    const stdin = 'One\n\nfirst\n\fTwo\n\nsecond\n';
    const { ended } = await run(['--chapters', '2', '--show-text', '--no-titles'], { stdin });
    expect(ended.stdout.toString().trim()).toBe('second');
    const { ended: plain } = await run(['--dry-run'], { stdin });
    expect(plain.stdout.toString()).not.toContain('chapters');
  });
});

const RATE = 22_050;
const CHAPTERS = 4;
const SECONDS = 8;

const documents = Object.fromEntries(
  Array.from({ length: CHAPTERS }, (_, at) => [`c${at}.xhtml`, `<p>Chapter number ${at}.</p>`]),
);
const MARKED = epubOf({
  documents,
  nav: Object.keys(documents)
    .map((path, at) => `<li><a href="${path}">Number ${at}</a></li>`)
    .join(''),
});

const hertzOf = (chapter: number) => 500 + 100 * chapter;

/** A tone that tells the chapter, of a length that no frame of an encoder has. */
function toneOf(chapter: number): Uint8Array {
  const frames = Math.round((RATE * SECONDS) / CHAPTERS) + 977 * chapter;
  const samples = new Int16Array(frames);
  const step = (2 * Math.PI * hertzOf(chapter)) / RATE;
  for (let at = 0; at < frames; at += 1) samples[at] = 8000 * Math.cos(step * at);
  return plainWav(Buffer.from(samples.buffer));
}

interface Mark {
  readonly start_time: string;
  readonly tags: { readonly title: string };
}

function marksIn(path: string): readonly Mark[] {
  const args = ['-v', 'error', '-show_chapters', '-of', 'json', path];
  return JSON.parse(execFileSync('ffprobe', args, { encoding: 'utf8' })).chapters;
}

/** Crossings of zero tell the tone. */
function hertzAt(sound: Int16Array, start: number): number {
  let crossings = 0;
  for (let at = start; at < start + RATE / 2; at++)
    if ((sound[at] as number) < 0 !== (sound[at + 1] as number) < 0) crossings += 1;
  return crossings;
}

describe('a PDF', () => {
  const page = (number: number, ...lines: readonly string[]) => [
    'A Small Tale',
    '',
    ...lines,
    '',
    `${number}`,
  ];
  const pdf = pdfOf(
    [
      page(1, 'The Hill', '', 'We went up the hill be-', 'fore the evening came and'),
      page(2, 'we saw the sea from there.'),
      page(3, 'It was before the night.', '', 'The Sea', '', 'We went down.'),
    ],
    [
      ['The Hill', 0],
      ['The Sea', 2],
    ],
  );

  it.runIf(isThere('pdftotext') && isThere('pdftohtml'))(
    'is read through pdftotext, without what each page repeats, in the chapters of its outline',
    async () => {
      const box = new Sandbox();
      box.file('a.pdf', pdf);
      const shown = await box.run('-f a.pdf --show-text');
      expect(
        shown.stdout
          .toString()
          .trim()
          .split(/\s*\n\s*/u)
          .join(' '),
      ).toBe(
        'The Hill We went up the hill before the evening came and we saw the sea from there. It was before the night. The Sea We went down.',
      );
      const planned = await box.run('-f a.pdf -o a.mp3 --dry-run');
      expect(planned.stdout.toString().match(/The (?:Hill|Sea)$/gmu)).toEqual(['The Hill', 'The Sea']);
      box.file('bad.pdf', '%PDF-1.4\nnothing');
      expectFailure(
        await box.run('-f bad.pdf'),
        2,
        /cannot read bad\.pdf: pdftotext says: .*\nhint: get the file again/,
      );
      box.file('empty.pdf', pdfOf([[]]));
      expectFailure(await box.run('-f empty.pdf'), 2, /empty\.pdf holds no text to read\nhint: .*ocrmypdf/);
    },
  );

  it.runIf(isThere('pdftotext') && isThere('pdftohtml'))(
    'comes through a pipe, with two pages or with a page of pictures',
    async () => {
      const box = new Sandbox();
      const planned = await box.run('--format pdf -o a.mp3 --dry-run', { stdin: pdf });
      expect(planned.stdout.toString().match(/The (?:Hill|Sea)$/gmu)).toEqual(['The Hill', 'The Sea']);
      const two = pdfOf([page(1, 'We went up the'), page(2, 'hill.'), []].slice(0, 2));
      const shown = await box.run('--show-text', { stdin: two });
      expect(shown.stdout.toString().trim().split(/\s+/u).join(' ')).toBe(
        'A Small Tale We went up the hill.',
      );
      const withPicture = await box.run('-o a.wav', {
        stdin: pdfOf([['We went up.'], [], ['We went down.']]),
      });
      expect(withPicture.stderr.toString()).toContain('1 of 3 pages holds no text: it is empty or a picture');
    },
  );

  it('names the program that reads it where there is none', async () => {
    const box = new Sandbox();
    box.file('a.pdf', pdf);
    const ended = await box.run('-f a.pdf', { env: { PATH: '/nowhere' } });
    expectFailure(
      ended,
      2,
      /cannot read a\.pdf: it is a PDF, and pdftotext is not installed\nhint: install poppler-utils/,
    );
  });
});

describe.skipIf(!isThere('ffmpeg'))('the marks of chapters', () => {
  it.each(['mp3', 'm4b', 'opus', 'flac'])('stand at the sound of their chapters: %s', async (format) => {
    const server = await serveBytes((wire, request, number) => {
      const { text } = request.json as { text: string };
      return complete(toneOf(Number(/\d+/.exec(text)?.[0])))(wire, request, number);
    });
    const box = new Sandbox();
    box.file('book.epub', MARKED);
    const run = await box.run(`-f book.epub -o book.${format} -q`, { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const sound = decoded(box.path(`book.${format}`), RATE);
    const marks = marksIn(box.path(`book.${format}`));
    expect(marks.map(({ tags }) => tags.title)).toEqual(
      Object.keys(documents).map((_, at) => `Number ${at}`),
    );
    for (const [at, { start_time }] of marks.entries()) {
      const start = Number(start_time);
      const from = Math.max(0, Math.round((start - 0.5) * RATE));
      const onset = from + sound.subarray(from).findIndex((sample) => Math.abs(sample) > 2000);
      expect(Math.abs(onset / RATE - start), `chapter ${at}`).toBeLessThan(0.002);
      expect(Math.abs(hertzAt(sound, onset + 1000) - hertzOf(at)), `chapter ${at}`).toBeLessThan(5);
    }
  });
});

const ARGS = ['-f', 'book.epub', '--split', 'chapters', '-o', 'novel/{nn} {title}.mp3'];

type Chapter = readonly [title: string, text: string];

function bookOf(chapters: readonly Chapter[]): Buffer {
  const named = chapters.map(([title, text], at) => [`c${at}.xhtml`, title, text] as const);
  return epubOf({
    documents: Object.fromEntries(
      named.map(([path, title, text]) => [path, `<h1>${title}</h1><p>${text}</p>`]),
    ),
    nav: named.map(([path, title]) => `<li><a href="${path}">${title}</a></li>`).join(''),
    metadata: '<dc:title>The Book</dc:title><dc:creator>Ann Author</dc:creator>',
  });
}

async function setUp() {
  const server = await serveBytes(complete(plainWav(sound(6000))));
  const box = new Sandbox();
  const write = (...chapters: Chapter[]) => box.file('book.epub', bookOf(chapters));
  const run = (...more: string[]) => box.run([...ARGS, ...more], { env: named(server.url) });
  const files = () =>
    readdirSync(box.path('novel'))
      .filter((name) => name.endsWith('.mp3'))
      .sort();
  return { server, box, write, run, files };
}

const NAMES = ['01 One- a-b.mp3', '02 _CON.mp3', '03 Three.mp3'];

describe('--split chapters', () => {
  it('writes a file for each chapter, and a second run only those that changed', async () => {
    const { server, box, write, run, files } = await setUp();
    write(['One: a/b', 'First.'], ['CON', 'Second.'], ['Three', 'Third.']);
    expect(await run('-q')).toMatchObject({ status: 0, stderr: '' });
    expect(files()).toEqual(NAMES);
    const { frames } = readId3(box.read('novel/02 _CON.mp3'));
    const tags = Object.fromEntries(
      frames.filter(({ id }) => id[0] === 'T').map((each) => [each.id, textOf(each)]),
    );
    expect(tags).toMatchObject({ TIT2: 'CON', TALB: 'The Book', TPE1: 'Ann Author', TRCK: '2/3' });

    const asked = server.requests.length;
    const seen = (name: string) => statSync(box.path(`novel/${name}`)).ino;
    const before = NAMES.map(seen);
    expect(await run('-q', '--check')).toMatchObject({ status: 0 });
    expect(await run('-q')).toMatchObject({ status: 0 });
    expect(server.requests).toHaveLength(asked);

    write(['One: a/b', 'First.'], ['CON', 'Second, changed.'], ['Three', 'Third.']);
    const checked = await run('--check');
    expect(checked).toMatchObject({
      status: 9,
      stdout: Buffer.from(`stale: ${box.path('novel/02 _CON.mp3')}\n`),
    });
    expect(server.requests).toHaveLength(asked);
    expect(await run('-q')).toMatchObject({ status: 0 });
    const after = NAMES.map(seen);
    expect(after.map((inode, at) => inode === before[at])).toEqual([true, false, true]);

    const picked = await run('--check', '--chapters', '2-3');
    expect(String(picked.stdout)).toBe(`left over: ${box.path('novel/01 One- a-b.mp3')}\n`);

    write(['One: a/b', 'First.'], ['CON', 'Second, changed.']);
    expect(await run('--prune')).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
    expect(await run('--prune', '--yes', '-q')).toMatchObject({ status: 0 });
    expect(files()).toEqual(NAMES.slice(0, 2));
  });

  it('puts the chapters of a text that says no title into one album, that of its file', async () => {
    const box = new Sandbox();
    box.file('My Notes.md', '# One\n\nFirst.\n\n# Two\n\nSecond.\n');
    const args = ['-f', 'My Notes.md', '--split', 'chapters', '-o', '{book} {nn}.mp3', '-q'];
    expect(await box.run(args)).toMatchObject({ status: 0, stderr: '' });
    const albums = ['My Notes 01.mp3', 'My Notes 02.mp3'].map((name) =>
      readId3(box.read(name))
        .frames.filter(({ id }) => id === 'TIT2' || id === 'TALB')
        .map((frame) => textOf(frame)),
    );
    expect(albums).toEqual([
      ['One', 'My Notes'],
      ['Two', 'My Notes'],
    ]);
  });

  it.runIf(process.platform === 'linux' && isThere('script'))(
    'shows on a terminal how far it is with all chapters that are made',
    async () => {
      const answer = complete(plainWav(sound(6000)));
      const server = await serveBytes(async (...asked) => {
        await sleep(300);
        await answer(...asked);
      });
      const box = new Sandbox();
      const env = { ...named(server.url), TERM: 'xterm' };
      box.file('book.md', '# One\n\nIt began.\n\n# Two\n\nIt went on.\n\nIt ended.\n');
      const line =
        "tts -f book.md --split chapters --concurrency 1 --max-chars 15 --no-cache -o 'text/{nn}.mp3'";
      box.file('command', `stty cols 100 rows 30; ${line}; rm text/02.mp3; ${line}`);
      const { stdout } = await box.shell("script -qec 'sh -e command' /dev/null", { env });
      const [both = '', last = ''] = stdout.toString().split('2 chapters: ');
      expect(both).toMatch(/chapter 1\/2: One {2}\d\/\d segments/);
      expect(both).toMatch(/chapter 2\/2: Two {2}\d\/\d segments {2}\d+ %/);
      expect(last).toMatch(/chapter 1\/1: Two {2}\d\/\d segments? {2}\d+ %/);
    },
  );

  it('finds the headings of a text for WAVs, too', async () => {
    const { box, server } = await setUp();
    box.file('book.md', '# One\n\nFirst.\n\n# Two\n\nSecond.\n');
    const args = ['-f', 'book.md', '--split', 'chapters', '-o', '{nn} {title}.wav', '-q'];
    expect(await box.run(args, { env: named(server.url) })).toMatchObject({ status: 0, stderr: '' });
    expect(box.list()).toEqual(expect.arrayContaining(['01 One.wav', '02 Two.wav']));
  });

  it('makes chapters again whose silence of a border changed', async () => {
    const { server, box, write, run } = await setUp();
    write(['One', 'First.'], ['Two', 'Second.</p><hr/><h2>Later</h2><p>Third.']);
    expect(await run('-q')).toMatchObject({ status: 0, stderr: '' });
    const asked = server.requests.length;
    expect(await run('-q', '--check', '--pauses', 'scene=1.2,heading=0.8')).toMatchObject({ status: 0 });
    for (const border of ['scene', 'heading']) {
      const checked = await run('-q', '--check', '--pauses', `${border}=4`);
      expect(checked.status).toBe(9);
      expect(String(checked.stdout)).toContain(`stale: ${box.path('novel/02 Two.mp3')}\n`);
    }
    expect(server.requests).toHaveLength(asked);
  });

  it.each([
    ['-f book.epub --split chapters', 'template'],
    ['-f book.epub --split chapters -o x.mp3', 'name of its own'],
    ['-f book.epub --split chapters -o {chapter}.mp3', '{nn}'],
    ['-f book.epub --split chapters -o {n}.mp3 --play', '--play'],
    ['-f - --split chapters -o {n}.mp3', 'pipe'],
    ['hi --prune -o x.mp3', '--split'],
    [['-o', '{nn} {title}.mp3'], 'hint: add --split chapters'],
  ])('is refused where it cannot be: %j', async (args, words) => {
    const { server, box, write } = await setUp();
    write(['One', 'First.']);
    const refused = await box.run(args, { env: named(server.url), stdin: 'text' });
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining(words) });
    expect(server.requests).toHaveLength(0);
    expect(box.list()).toEqual(['book.epub']);
  });
});
