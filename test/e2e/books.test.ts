import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { epubOf } from '../support/epub.ts';
import { complete } from '../support/http-bytes.ts';
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
    expect(ended.stderr).toMatch(/^tts: novel\.epub is a file, so what is in it is spoken; /);
    expect(box.list()).toContain('novel.mp3');
  });

  it('has one paragraph for each stanza of a poem, without the numbers of its lines', async () => {
    const lines = ['April is the cruellest month, breeding', 'Lilacs out of the dead land, mixing'];
    const last = 'Memory and desire.<span class="lnum">10</span>';
    const poem = `<main><div>${[...lines, last].map((line) => `<div>${line}</div>`).join('')}</div></main>`;
    const { spoken } = await run(['-o', 'x.wav'], { stdin: `<!doctype html>${poem}` });
    expect(spoken).toEqual([`${lines.join(' ')} Memory and desire.`]);
  });

  it('comes through a pipe, and gives only the chapters that were asked for', async () => {
    const args = ['--chapters', '2', '--no-titles', '-q', '-o', 'x.wav', '--subtitles', 'x.json'];
    const { box, spoken } = await run(args, { stdin: BOOK });
    expect(spoken).toEqual(['Second text.']);
    expect(JSON.parse(box.read('x.json').toString()).cues).toMatchObject([
      { text: 'Second text.', chapter: 'Two' },
    ]);
    expect((await run(['-f', 'notes.md', ...args])).spoken).toEqual(['b']);
  });

  it('of chapters that are not there is refused before anything is sent', async () => {
    const { ended, spoken } = await run(['-f', 'novel.epub', '--chapters', '1,3-4']);
    expectFailure(ended, 2, /there is no chapter 4: the text has 2 of them/);
    expect(spoken).toEqual([]);
  });

  it('is listed by --dry-run, with the length of each chapter', async () => {
    const { ended } = await run(['-f', 'novel.epub', '--dry-run', '--json', '--footnotes', 'read']);
    expect(JSON.parse(ended.stderr || ended.stdout.toString())).toMatchObject({
      dryRun: true,
      characters: 38,
      chapters: [
        { number: 1, title: 'One', level: 1, characters: 22 },
        { number: 2, title: 'Two', level: 1, characters: 16 },
      ],
      remarks: [/nav/, /title page/].map((pattern) => expect.stringMatching(pattern)),
    });
  });

  it('that is none is refused with a sentence', async () => {
    const box = new Sandbox();
    box.file('x.epub', 'PK\x03\x04 and no more');
    expectFailure(await box.run(['-f', 'x.epub']), 2, /cannot read x\.epub: the book is damaged/);
  });
});

it('A folder for temporary files that is full ends the run with a sentence.', async ({ skip }) => {
  const box = new Sandbox();
  const TMPDIR = smallDisk(box, 'full', 'size=64k', skip);
  const stdin = Buffer.concat([BOOK, Buffer.alloc(200_000)]);
  const full = await box.run(['--format', 'epub', '-o', 'out.wav'], { stdin, env: { TMPDIR } });
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
  });

  it('has titles only there: the first line of a letter is spoken, and is no chapter', async () => {
    const stdin = 'Dear Bob,\nhow are you?\n';
    const { ended, box } = await run(['--no-titles', '-o', 'x.mp3', '--json'], { stdin });
    expect(JSON.parse(ended.stdout.toString())).toMatchObject({ characters: 22 });
    expect(ended.stdout.toString()).not.toContain('chapters');
    expect(box.read('x.mp3').includes('CHAP')).toBe(false);
  });
});
