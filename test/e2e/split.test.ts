import { readdirSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { epubOf } from '../support/epub.ts';
import { complete } from '../support/http-bytes.ts';
import { readId3, textOf } from '../support/mp3.ts';
import { isThere } from '../support/programs.ts';
import { named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

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

  it.each(['scene', 'heading'])('makes chapters again whose silence of a %s changed', async (border) => {
    const { server, box, write, run } = await setUp();
    write(['One', 'First.'], ['Two', 'Second.</p><hr/><h2>Later</h2><p>Third.']);
    expect(await run('-q')).toMatchObject({ status: 0, stderr: '' });
    const asked = server.requests.length;
    expect(await run('-q', '--check', '--pauses', 'scene=1.2,heading=0.8')).toMatchObject({ status: 0 });
    const checked = await run('-q', '--check', '--pauses', `${border}=4`);
    expect(checked).toMatchObject({ status: 9 });
    expect(String(checked.stdout)).toContain(`stale: ${box.path('novel/02 Two.mp3')}\n`);
    expect(server.requests).toHaveLength(asked);
  });

  it.each([
    [['-f', 'book.epub', '--split', 'chapters'], 'template'],
    [['-f', 'book.epub', '--split', 'chapters', '-o', 'x.mp3'], 'name of its own'],
    [['-f', 'book.epub', '--split', 'chapters', '-o', '{chapter}.mp3'], '{nn}'],
    [['-f', 'book.epub', '--split', 'chapters', '-o', '{n}.mp3', '--play'], '--play'],
    [['-f', '-', '--split', 'chapters', '-o', '{n}.mp3'], 'pipe'],
    [['hi', '--prune', '-o', 'x.mp3'], '--split'],
    [['--split', 'chapters', '-o', 'novel/'], "-o 'novel/{nn} {title}.mp3'"],
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
