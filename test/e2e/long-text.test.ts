import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { expectSpoken, serveText } from '../support/book.ts';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { complete, head, inTurn } from '../support/http-bytes.ts';
import { NOVEL_CHARACTERS, novel, novelBook } from '../support/novel.ts';
import { isThere } from '../support/programs.ts';
import { wholePcm } from '../support/read-wav.ts';
import { isListening, named, Sandbox } from '../support/run.ts';
import { textOf, wavOf } from '../support/text-audio.ts';
import { everyTenth, type TextServer } from '../support/text-server.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav } from '../unit/sound/wav-builder.ts';

const BOOK = novel();
/** Enough of it to have all that is in it. */
const CHAPTERS = novel(5000);
const PAGES = novel(20_000);

const heardIn = (box: Sandbox, name = 'book.wav') => textOf(wholePcm(box.read(name)));
const kept = (url: string) => ({ env: named(url, { TTS_CACHE: '1', TTS_RETRIES: '8' }) });

/** Speaks a text, without a word but the sound, and hears it again. */
async function heard(text: string, line: string, server: TextServer): Promise<string> {
  const box = new Sandbox();
  box.file('book.txt', text);
  const args = ['-f', 'book.txt', ...line.split(' ').filter(Boolean)];
  const run = await box.run(args, { env: named(server.url, { TTS_RETRIES: '3' }) });
  expect(run).toMatchObject({ status: 0, stderr: '' });
  return box.list().includes('book.wav') ? heardIn(box) : textOf(run.stdout.subarray(44));
}

describe('all of a text is heard, in order and once', () => {
  test.each([
    [20, 16, '-o book.wav'],
    [200, 1, '-o book.wav --stream'],
    [200, 4, ''],
    [5000, 16, '--stream'],
  ])('with at most %i characters in a request, and %i requests at once: %s', async (most, atOnce, line) => {
    const server = await serveText();
    const spoken = await heard(CHAPTERS, `--max-chars ${most} --concurrency ${atOnce} ${line}`, server);
    expectSpoken(spoken, CHAPTERS);
    expect(server.texts.every((text) => Array.from(text).length <= most)).toBe(true);
    expect(server.mostOpen).toBeLessThanOrEqual(atOnce);
  });

  test('where it is a whole novel', async () => {
    expect(Array.from(BOOK).length).toBeGreaterThanOrEqual(NOVEL_CHARACTERS);
    expectSpoken(await heard(BOOK, '--stream', await serveText()), BOOK);
  });

  test.each(['-o book.wav --max-chars 200 --concurrency 16', '--max-chars 2000 --concurrency 1 --stream'])(
    'where a tenth of the answers fail, in five ways: %s',
    async (line) => {
      const server = await serveText({ fault: everyTenth });
      expectSpoken(await heard(PAGES, line, server), PAGES);
      expect(server.requests).toBeGreaterThan(10);
    },
  );

  test('with few refusals by a service that takes two requests at once', async () => {
    const server = await serveText({ limit: 2, delay: { firstByteMs: 5, timesRealTime: 1000 } });
    expectSpoken(await heard(PAGES, '-o book.wav --concurrency 8 --max-chars 100', server), PAGES);
    expect(server.requests - server.refused).toBeGreaterThan(150);
    expect(server.refused).toBeLessThan(20);
  });
});

describe('a reader', () => {
  /** Runs the program in front of it; its process is known by a file. */
  function readBy(reader: string, args: string, box: Sandbox, url: string) {
    const line = `(echo $BASHPID > pid; exec tts -f ${args}) | ${reader}`;
    return box.startShell(line, { env: named(url, { TTS_RETRIES: '3' }) });
  }

  /** The most memory that a process has had at once, in bytes. */
  function peakOf(pid: number): number {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
  }

  test.runIf(process.platform === 'linux' && isThere('pv')).each([
    ['book.epub --stream --play --player "sh listen"', 'cat'],
    ['book.txt --max-chars 5000 --concurrency 16', 'sh listen'],
  ])('in real time costs neither memory nor further requests: %s', async (args, reader) => {
    const server = await serveText({ framesPerByte: 1470 });
    const box = new Sandbox();
    box.file('book.txt', BOOK);
    box.file('book.epub', novelBook(BOOK));
    box.file('listen', 'exec pv -q -L 44100 > /dev/null');
    const run = readBy(reader, args, box, server.url);
    await vi.waitFor(() => expect(server.requests).toBeGreaterThan(0), 60_000);
    await sleep(4000);
    const { requests } = server;
    await sleep(1500);
    expect(server.requests - requests).toBeLessThanOrEqual(2);
    expect(peakOf(Number(box.read('pid')))).toBeLessThan(150 * 2 ** 20);
    run.child.kill('SIGKILL');
  });

  test('that stops causes no requests meanwhile, and gets all of the sound when it goes on', async () => {
    const server = await serveText({ framesPerByte: 20 });
    const box = new Sandbox();
    const text = novel(60_000);
    box.file('book.txt', text);
    const reader = '(until [ -e go ]; do sleep 0.1; done; cat)';
    const run = readBy(reader, 'book.txt --stream --paragraph-pause 0', box, server.url);
    let requests = 0;
    const hasStopped = async () => {
      requests = server.requests;
      await sleep(1500);
      return requests > 0 && server.requests === requests;
    };
    await expect.poll(hasStopped).toBe(true);
    expect(requests).toBeLessThan(20);
    box.file('go');
    expectSpoken(textOf((await run.ended).stdout.subarray(44), 20), text);
  });

  test('gets what comes next first, though memory is used up', async () => {
    const fault = (number: number) => (number <= 2 ? '429' : undefined);
    const server = await serveText({ framesPerByte: 1000, fault });
    const box = new Sandbox();
    const text = novel(80_000).replace(/\n\n/g, ' ');
    box.file('book.txt', text);
    const args = 'book.txt --max-chars 5000 --concurrency 16 --stream';
    const run = await readBy('cat > book.raw', args, box, server.url).ended;
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    expectSpoken(textOf(box.read('book.raw').subarray(44), 1000), text);
  });

  test('that leaves ends the run without a word, also while the service says nothing', async () => {
    const server = await serveText({ framesPerByte: 4000, fault: (at) => (at > 1 ? 'stop' : undefined) });
    const box = new Sandbox();
    box.file('book.txt', novel(5000));
    const line = 'tts -f book.txt --stream | head -c 1000 > part; exit $PIPESTATUS';
    expect(await box.shell(line, kept(server.url))).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('part')).toHaveLength(1000);
  });
});

describe('the cache', () => {
  const ARGS = ['-f', 'book.txt', '-o', 'book.wav', '--max-chars', '200'];

  test('has what was spoken once, and a changed sentence costs one request', async () => {
    const server = await serveText();
    const box = new Sandbox();
    box.file('book.txt', PAGES);
    expect(await box.run(ARGS, kept(server.url))).toMatchObject({ status: 0 });
    const { requests } = server;
    const again = await box.run(ARGS, kept(server.url));
    expect(again.stderr).toBe('tts: no request was made: everything came from the cache\n');
    const middle = PAGES.indexOf('Tolkien', PAGES.length / 2);
    const edited = `${PAGES.slice(0, middle)}Tolstoi${PAGES.slice(middle + 7)}`;
    box.file('book.txt', edited);
    expect((await box.run(ARGS, kept(server.url))).status).toBe(0);
    expect(server.requests).toBe(requests + 1);
    expectSpoken(heardIn(box), edited);
  });

  test('spares a text that repeats itself, and that is told', async () => {
    const server = await serveText();
    const box = new Sandbox();
    box.file('book.txt', 'The same sentence once more.\n\n'.repeat(20));
    const args = [...ARGS, '--max-chars', '30', '--concurrency', '1'];
    const { stderr } = await box.run(args, kept(server.url));
    expect(stderr).toBe(`tts: ${20 - server.requests} of 20 segments came from the cache\n`);
  });

  test('keeps no sound that was put together of two that differ', async () => {
    const take = (byte: number) => plainWav(Buffer.alloc(30_000, byte));
    const torn: Script = async (wire) => {
      await wire.write(head(200, { 'Content-Length': 30_044 }));
      await wire.write(take(0x11).subarray(0, 20_044));
      wire.end();
    };
    const server = await serveBytes(inTurn(torn, complete(take(0x22))));
    const box = new Sandbox();
    const args = ['one sentence', '--stream', '-v', '-o'];
    const run = await box.run([...args, 'a.wav'], kept(server.url));
    expect(run).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('the service sent different audio'),
    });
    const pcm = box.read('a.wav').subarray(44);
    expect(pcm.equals(Buffer.concat([Buffer.alloc(20_000, 0x11), Buffer.alloc(10_000, 0x22)]))).toBe(true);
    await box.run([...args, 'b.wav'], kept(server.url));
    await box.run([...args, 'c.wav'], kept(server.url));
    expect(box.read('b.wav')).toEqual(box.read('c.wav'));
    expect(server.requests).toHaveLength(3);
  });

  test.each([300, 1000])('finishes a run that was killed after %i ms', async (patience) => {
    const server = await serveText({ framesPerByte: 10, delay: { firstByteMs: 40, timesRealTime: 20 } });
    const box = new Sandbox();
    box.file('book.txt', PAGES);
    const killed = box.start(ARGS, kept(server.url));
    await sleep(patience);
    killed.child.kill('SIGKILL');
    expect((await killed.ended).status).toBeNull();
    expect(box.list()).not.toContain('book.wav');
    expect((await box.run(ARGS, kept(server.url))).status).toBe(0);
    // Parts under way or waiting, with four requests at once.
    expect(server.requests - new Set(server.texts).size).toBeLessThanOrEqual(8);
  });

  test('that cannot hold a book is told before anything is paid, with the setting that helps', async () => {
    const server = await serveText();
    const box = new Sandbox();
    box.file('book.txt', PAGES);
    writeUserConfig(box, { cacheSize: '20MB' });
    const told =
      /^tts: warning: about [\d.]+ MiB of audio do not fit into the cache of 20\.0 MiB \(cacheSize in your own config\)/m;
    expect((await box.run([...ARGS, '--dry-run'], kept(server.url))).stderr).toMatch(told);
    expect(server.requests).toBe(0);
    writeUserConfig(box, { cacheSize: '0.5GB' });
    expect((await box.run([...ARGS, '--dry-run'], kept(server.url))).stderr).not.toMatch(/warning/);
  });
});

describe('two runs of one book at once', () => {
  const TEXT = novel(10_000);
  const ARGS = ['-f', 'book.txt', '--max-chars', '200', '--paragraph-pause', '0', '-q', '-o'];

  /** A service that takes a while, with the texts that it was asked for. */
  async function serveSlowly(milliseconds: number) {
    const asked: string[] = [];
    const server = await serveBytes(async (wire, request, number) => {
      const { text } = request.json as { text: string };
      asked.push(text);
      await sleep(milliseconds);
      await complete(wavOf(text))(wire, request, number);
    });
    const box = new Sandbox();
    box.file('book.txt', TEXT);
    const options = { env: named(server.url, { TTS_CACHE: '1' }), patience: 110_000 };
    const twice = () => asked.filter((text, at) => asked.indexOf(text) < at);
    return { asked, twice, box, options };
  }

  test('ask for each segment once, and both are whole', async () => {
    const { twice, box, options } = await serveSlowly(50);
    const runs = ['one.wav', 'two.wav'].map((name) => box.tts([...ARGS, name], options));
    for (const run of await Promise.all(runs)) expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(twice()).toEqual([]);
    for (const name of ['one.wav', 'two.wav']) expectSpoken(heardIn(box, name), TEXT);
  });

  test.each(['SIGKILL', 'SIGINT'] as const)('take over what the other one leaves: %s', async (signal) => {
    const { asked, twice, box, options } = await serveSlowly(100);
    const dying = box.start([...ARGS, 'one.wav'], options);
    await expect.poll(() => asked.length).toBeGreaterThan(6);
    const heir = box.tts([...ARGS, 'two.wav'], options);
    await sleep(300);
    dying.child.kill(signal);
    await dying.ended.catch(() => {});
    expect(await heir).toMatchObject({ status: 0, stderr: '' });
    expectSpoken(heardIn(box, 'two.wav'), TEXT);
    // What the first run had under way, four at once, was lost with it.
    expect(twice().length).toBeLessThanOrEqual(4);
  });

  test('end at Ctrl-C, also that which waits for the other', async () => {
    const { box, asked, options } = await serveSlowly(5000);
    const one = box.start([...ARGS, 'one.wav'], options);
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    const waiting = box.start([...ARGS, 'two.wav'], options);
    await expect.poll(() => isListening(waiting)).toBe(true);
    expect((await waiting.endBy('SIGINT')).ended).toMatchObject({ status: 130 });
    expect((await one.endBy('SIGINT')).ended.status).toBe(130);
    expect(box.list()).toEqual(['book.txt']);
  });
});
