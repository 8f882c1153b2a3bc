import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { decoded } from '../support/decoded.ts';
import { epubOf } from '../support/epub.ts';
import { complete, inTurn } from '../support/http-bytes.ts';
import { readChapters, readId3, textOf } from '../support/mp3.ts';
import { isAlive, isThere } from '../support/programs.ts';
import { parseWav } from '../support/read-wav.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { smallDisk } from '../support/small-disk.ts';
import { plainWav, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const pcm = sound(50_000);
const wav = plainWav(pcm);
const ffmpeg = isThere('ffmpeg');

async function setUp() {
  const server = await serveBytes(complete(wav));
  return { env: named(server.url), box: new Sandbox(), server };
}

describe('an MP3', () => {
  it('has as many samples as the WAV, in a file and through ">"', async ({ skip }) => {
    skip(!ffmpeg, 'no ffmpeg here');
    const { env, box } = await setUp();
    expect(await box.run('hi -o a.mp3', { env })).toMatchObject({ status: 0, stderr: '' });
    expect(await box.shell('tts hi --encode mp3 > b.mp3', { env })).toMatchObject({ status: 0, stderr: '' });
    expect(decoded(box.path('a.mp3'))).toHaveLength(pcm.length / 2);
    expect(box.read('b.mp3')).toEqual(box.read('a.mp3'));
    expect(box.list()).toEqual(['a.mp3', 'b.mp3']);
  });

  it('streams', async ({ skip }) => {
    skip(!ffmpeg, 'no ffmpeg here');
    const { env, box } = await setUp();
    const streamed = await box.shell('tts hi -o - --encode mp3 --bitrate 32k | cat > c.mp3', { env });
    expect(streamed).toMatchObject({ status: 0, stderr: '' });
    expect(decoded(box.path('c.mp3')).length).toBeGreaterThanOrEqual(pcm.length / 2);
    expect(statSync(box.path('c.mp3')).size).toBeLessThan(12_000);
  });

  it('that a reader leaves ends the run quietly, and nothing stays of one that fails', async () => {
    const { env, box } = await setUp();
    const left = await box.shell('set -o pipefail; tts hi -o - --encode mp3 | head -c 10 | wc -c', { env });
    expect(left).toMatchObject({ status: 0, stderr: '' });
    const server = await serveBytes((wire) => wire.reset());
    const failed = await box.run('hi -o a.mp3', { env: named(server.url) });
    expect(failed.status).toBe(6);
    expect(box.list()).toEqual([]);
  });
});

describe('a book by ffmpeg', () => {
  it('is written, and nothing next to it', async ({ skip }) => {
    skip(!ffmpeg, 'no ffmpeg here');
    const { env, box } = await setUp();
    expect(await box.run('hi -o a.m4b', { env })).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('a.m4b').toString('latin1', 4, 12)).toBe('ftypM4B ');
    expect(box.list()).toEqual(['a.m4b']);
  });

  it('has as many bits for each channel', async ({ skip }) => {
    skip(!ffmpeg, 'no ffmpeg here');
    const box = new Sandbox();
    const noise = sound(800_000);
    for (const channels of [1, 2]) {
      const server = await serveBytes(complete(plainWav(noise, undefined, { ...speechFormat, channels })));
      await box.run(`hi -o ${channels}.m4b`, { env: named(server.url) });
    }
    // As many samples in half the time.
    const [mono = 0, stereo = 0] = ['1.m4b', '2.m4b'].map((name) => statSync(box.path(name)).size);
    expect(stereo / mono).toBeGreaterThan(0.8);
  });

  it('is refused before anything is sent where there is no ffmpeg', async () => {
    const { env, box, server } = await setUp();
    const refused = await box.run('hi -o a.m4b', { env: { ...env, PATH: '/nowhere' } });
    expect(refused).toMatchObject({
      status: 8,
      stderr: expect.stringMatching(/not installed\nhint: .*\.mp3/),
    });
    expect(server.requests).toHaveLength(0);
    expect(box.list()).toEqual([]);
  });

  it('is not there if the disk is full at its end', async ({ skip }) => {
    const ending = 'm4b';
    skip(!ffmpeg, 'no ffmpeg here');
    const { url } = await serveBytes(complete(plainWav(sound(200_000))));
    const box = new Sandbox();
    const speak = (file: string) => box.run(['hi', '-q', '-o', file], { env: named(url) });
    expect(await speak(`whole.${ending}`)).toMatchObject({ status: 0 });
    // It has room for the sound once, and for most of it once more, together with its tags.
    const room = Math.floor(1.7 * box.read(`whole.${ending}`).length);
    const folder = smallDisk(box, 'small', `size=${room}`, skip);
    expect(await speak(`small/book.${ending}`)).toMatchObject({
      status: 8,
      stderr: expect.stringMatching(/ffmpeg failed: .*No space left/),
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('has no process left after a kill, and the next run removes what stayed', async ({ skip }) => {
    skip(!ffmpeg, 'no ffmpeg here');
    const server = await serveBytes(
      inTurn(async (wire) => {
        await wire.write(
          `HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nContent-Length: ${wav.length}\r\n\r\n`,
        );
        await wire.write(wav.subarray(0, 40_000));
      }, complete(wav)),
    );
    const box = new Sandbox();
    const env = named(server.url);
    const run = box.start('hi -o a.m4b --stream', { env });
    const childOf = () =>
      spawnSync('pgrep', ['-P', String(run.child.pid), '-f', 'pipe:0'], { encoding: 'utf8' }).stdout;
    await until(() => childOf() !== '');
    const pid = Number(childOf());
    await run.endBy('SIGKILL').catch(() => {});
    await until(() => !isAlive(pid));
    expect(box.list()).not.toContain('a.m4b');
    expect(await box.run('hi -o a.m4b', { env })).toMatchObject({ status: 0, stderr: '' });
    expect(box.list()).toEqual(['a.m4b']);
  });
});

async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await sleep(20);
}

describe('tags', () => {
  const book = epubOf({
    documents: { 'a.xhtml': '<h1>One</h1><p>First.</p>', 'b.xhtml': '<h1>Two</h1><p>Second.</p>' },
    nav: '<li><a href="a.xhtml">One</a></li><li><a href="b.xhtml">Two</a></li>',
    metadata: '<dc:title>Of the book</dc:title><dc:language>de</dc:language>',
  });

  it('are those of the options and the book, with chapters and a cover', async () => {
    const { env, box } = await setUp();
    box.file('book.epub', book);
    box.file('cover.jpg', Buffer.from('ffd8ffe000104a464946', 'hex'));
    const tags = ['--title', 'The Book', '--author', 'Ann Author', '--cover', 'cover.jpg'];
    const run = await box.run(['-f', 'book.epub', '-o', 'a.mp3', '--json', ...tags], { env });
    expect(run).toMatchObject({ status: 0 });
    expect(JSON.parse(String(run.stdout)).chapters).toMatchObject([
      { title: 'One', start: 0 },
      { title: 'Two' },
    ]);
    const { frames } = readId3(box.read('a.mp3'));
    const texts = Object.fromEntries(
      frames.filter(({ id }) => id[0] === 'T').map((each) => [each.id, textOf(each)]),
    );
    expect(texts).toMatchObject({ TIT2: 'The Book', TALB: 'The Book', TPE1: 'Ann Author', TLAN: 'deu' });
    expect(frames.map(({ id }) => id)).toContain('APIC');
    expect(readChapters(frames).map(({ title }) => title)).toEqual(['One', 'Two']);
  });

  it('name the voice, and the run says that it speaks another language', async () => {
    const box = new Sandbox();
    box.file('book.epub', book);
    const run = await box.run('-f book.epub -o a.mp3 -s slt');
    expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining('the book is in German') });
    const narrator = readId3(box.read('a.mp3')).frames.find(({ id }) => id === 'TCOM');
    expect(narrator && textOf(narrator)).toBe('slt');
  });

  it('lose a cover that players do not take with a word, and one that is not there is an error', async () => {
    const { env, box, server } = await setUp();
    for (const [bytes, why] of [
      ['GIF89a', 'players take JPEG and PNG, and it is neither'],
      [Buffer.alloc(16 * 1024 * 1024 + 1, 'ffd8ffe0', 'hex'), 'it has more than 16 MB'],
    ] as const) {
      box.file('cover', bytes);
      const run = await box.run('hi -o a.mp3 --title B --cover cover', { env });
      expect(run.stderr).toContain(`the cover is left out: ${why}`);
      expect(readId3(box.read('a.mp3')).frames.map(({ id }) => id)).not.toContain('APIC');
    }
    const missing = await box.run('hi -o b.mp3 --cover none.jpg', { env });
    expect(missing).toMatchObject({ status: 2, stderr: expect.stringContaining('none.jpg') });
    expect(server.requests).toHaveLength(2);
  });
});

describe('the sound', () => {
  it.each([
    ['alaw', 6],
    ['ulaw', 7],
  ])('of telephones is a WAV without any program: %s', async (law, tag) => {
    const { env, box } = await setUp();
    const run = await box.run(['hi', '-o', 'a.wav', '--encode', law], { env: { ...env, PATH: '' } });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(parseWav(box.read('a.wav'))).toMatchObject({
      tag,
      bits: 8,
      dataSize: pcm.length / 2,
      sampleRate: 22_050,
    });
  });

  it.each([
    ['x.ul', 'ulaw', 8000],
    ['x.ulaw', 'ulaw', 8000],
    ['x.mu', 'ulaw', 8000],
    ['x.ulw', 'ulaw', 8000],
    ['x.al', 'alaw', 8000],
    ['x.ALAW', 'alaw', 8000],
    ['x.alw', 'alaw', 8000],
    ['x.sln', 's16le', 8000],
    ['x.sln12', 's16le', 12_000],
    ['x.sln16', 's16le', 16_000],
    ['x.sln24', 's16le', 24_000],
    ['x.sln32', 's16le', 32_000],
    ['x.sln44', 's16le', 44_100],
    ['x.sln48', 's16le', 48_000],
  ])('of a PBX has no header, and the rate of its ending: %s', async (name, kind, rate) => {
    const { env, box } = await setUp();
    // Another kind would be refused.
    const run = await box.run(['hi', '-o', name, '--encode', kind], { env });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const frames = Math.round((25_000 * rate) / 22_050);
    expect(box.read(name).length).toBe(kind === 's16le' ? 2 * frames : frames);
    const refused = await box.run(['hi', '-o', name, '-r', '22050'], { env });
    expectFailure(refused, 2, new RegExp(`is played at ${rate} Hz, and cannot have 22050 Hz`));
  });

  it('of a PBX goes with what --encode and -r say, and is one channel', async () => {
    const { env, box, server } = await setUp();
    const same = await box.run('hi -q -o a.ul --encode ulaw', { env });
    expect(same).toMatchObject({ status: 0 });
    await box.run('hi -q -o b.ulaw', { env });
    expect(box.read('a.ul')).toEqual(box.read('b.ulaw'));
    const wrong = await box.run('hi -q -o c.ul --encode alaw', { env });
    expectFailure(wrong, 2, /ask for different formats/);
    const { length } = server.requests;
    expectFailure(await box.run('hi -o d.sln16 -r 8000', { env }), 2, /-r 16000/);
    expect(server.requests).toHaveLength(length);
    const stereo = await serveBytes(
      complete(plainWav(sound(50_000), undefined, { ...speechFormat, channels: 2 })),
    );
    expect(await box.run('hi -q -o e.sln', { env: named(stereo.url) })).toMatchObject({ status: 0 });
    expect(box.read('e.sln').length).toBe(2 * Math.round((12_500 * 8000) / 22_050));
    box.file('p.csv', 'id,text,sampleRate\na,hi,8000\nb,hi,16000\n');
    expectFailure(await box.run('batch p.csv -o {id}.sln', { env }), 2, /line 3: .*b\.sln.*8000 Hz/);
    box.file('p.csv', 'id,text,end\na,hi,sln\nb,hi,sln16\nc,hi,wav\n');
    expect(await box.run('batch p.csv -q -o out/{id}.{end}', { env })).toMatchObject({ status: 0 });
    expect(box.read('out/b.sln16').length).toBe(2 * Math.round((25_000 * 16_000) / 22_050));
    expect(box.read('out/a.sln').length).toBe(2 * Math.round((25_000 * 8000) / 22_050));
  });

  it('without a header is the samples alone', async () => {
    const { env, box } = await setUp();
    expect(await box.run('hi -o a.pcm --encode s16le', { env })).toMatchObject({ status: 0 });
    expect(box.read('a.pcm')).toEqual(pcm);
    const piped = await box.run('hi --encode s16le', { env });
    expect(piped.stdout).toEqual(pcm);
  });

  it('with a bitrate that it cannot have is refused before anything is sent', async () => {
    const { env, box, server } = await setUp();
    for (const [name, bitrate, words] of [
      ['b.mp3', '500', 'MP3 at 22050 Hz has 8 to 160 kbit/s'],
      ['b.m4b', '300', 'M4B at 22050 Hz has 8 to 264 kbit/s'],
    ]) {
      const refused = await box.run(`hi -o ${name} --bitrate ${bitrate} -r22050`, { env });
      expect([refused.status, refused.stderr]).toEqual([
        2,
        `tts: --bitrate ${bitrate}: ${words}\nhint: choose a bitrate of this range, or leave it out\n`,
      ]);
    }
    expect(server.requests).toHaveLength(0);
  });

  it('in a format that cannot be is refused before anything is sent', async () => {
    const { env, box, server } = await setUp();
    for (const [args, words] of [
      ['-o a.wav --encode mp3', 'ask for different formats'],
      ['-o a.mp4', '.mp3'],
      ['-o a.raw', '--encode'],
      ['--encode mp4', 'mp3'],
      ...(isThere('ffmpeg') ? [['--encode m4b', 'book.m4b']] : []),
      ['--bitrate fast', '64k'],
    ]) {
      const refused = await box.run(`hi ${args}`, { env });
      expect(refused, args).toMatchObject({ status: 2, stderr: expect.stringContaining(String(words)) });
    }
    expect(server.requests).toHaveLength(0);
    expect(box.list()).toEqual([]);
  });
});
