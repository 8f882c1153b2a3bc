import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { expectSpoken, serveText } from '../support/book.ts';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { gate } from '../support/gate.ts';
import { complete, streamed } from '../support/http-bytes.ts';
import { NOVEL_CHARACTERS, novel, novelBook } from '../support/novel.ts';
import { isThere } from '../support/programs.ts';
import { wholePcm } from '../support/read-wav.ts';
import { isListening, named, Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { textOf, wavOf } from '../support/text-audio.ts';
import { everyTenth, type TextServer } from '../support/text-server.ts';
import { writeUserConfig } from '../support/user-config.ts';

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

  test('where a tenth of the answers fail, in five ways', async () => {
    const server = await serveText({ fault: everyTenth });
    expectSpoken(await heard(PAGES, '--max-chars 300 --concurrency 4 --stream', server), PAGES);
    expect(server.requests).toBeGreaterThan(50);
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

  test.runIf(process.platform === 'linux' && isThere('pv'))(
    'in real time costs neither memory nor further requests',
    async () => {
      const server = await serveText({ framesPerByte: 1470 });
      const box = new Sandbox();
      box.file('book.epub', novelBook(BOOK));
      box.file('listen', 'exec pv -q -L 44100 > /dev/null');
      const run = readBy('cat', 'book.epub --stream --play --player "sh listen"', box, server.url);
      await expect.poll(() => server.requests).toBeGreaterThan(0);
      await sleep(3000);
      const { requests } = server;
      await sleep(1000);
      expect(server.requests - requests).toBeLessThanOrEqual(2);
      expect(peakOf(Number(box.read('pid')))).toBeLessThan(150 * 2 ** 20);
      run.child.kill('SIGKILL');
    },
  );

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
  const TEXT = novel(5000);
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

  test('take over what the other one leaves', async () => {
    const { asked, twice, box, options } = await serveSlowly(100);
    const dying = box.start([...ARGS, 'one.wav'], options);
    await expect.poll(() => asked.length).toBeGreaterThan(6);
    const heir = box.start([...ARGS, 'two.wav'], options);
    await expect.poll(() => isListening(heir)).toBe(true);
    dying.child.kill('SIGKILL');
    await dying.ended.catch(() => {});
    expect(await heir.ended).toMatchObject({ status: 0, stderr: '' });
    expectSpoken(heardIn(box, 'two.wav'), TEXT);
    // What the first run had under way, four at once, was lost with it.
    expect(twice().length).toBeLessThanOrEqual(4);
  });
});

/** 0.045 s a byte: a fast voice, whose sound counts as whole without a question. */
const FRAMES_PER_BYTE = 360;

/** Speaks the text of a request byte by byte. */
function speaking({ delay = 0 } = {}): Script {
  return async (wire, request, number) => {
    const { input } = request.json as { input: string };
    await sleep(delay);
    const wav = wavOf(input, { sampleRate: 8000, framesPerByte: FRAMES_PER_BYTE, sized: false });
    await streamed(wav, 50_000)(wire, request, number);
  };
}

describe('a text through an engine', () => {
  const ARGS = '-f book.txt -o book.wav -r 8000 --paragraph-pause 0 -q';

  test('is killed twice and run again, without a wrong sample or a segment asked for twice', async () => {
    const server = await serveSpeech(speaking({ delay: 5 }));
    const box = new Sandbox();
    box.file('book.txt', PAGES);
    const args = `${ARGS} --engine ${server.url}`;
    const atKills: string[] = [];
    for (const requests of [25, 60]) {
      const run = box.start(args);
      await expect.poll(() => server.asked.length).toBeGreaterThan(requests);
      run.child.kill('SIGKILL');
      await run.ended.catch(() => {});
      atKills.push(...server.asked.slice(-20).map(({ input }) => input));
    }
    expect(await box.run(args, { patience: 110_000 })).toMatchObject({ status: 0, stderr: '' });
    expectSpoken(textOf(wholePcm(box.read('book.wav')), FRAMES_PER_BYTE), PAGES);
    const inputs = server.asked.map(({ input }) => input);
    const twice = inputs.filter((input, at) => inputs.indexOf(input) < at);
    // Only what was under way or not yet stored when a run was killed: twelve parts at most, twice.
    expect(twice.filter((input) => !atKills.includes(input))).toEqual([]);
    expect(twice.length).toBeLessThanOrEqual(24);
  });

  test.each([
    ['', 8],
    ['--concurrency 3', 3],
  ])(
    'has as many parts at once as the engine takes, and never more than asked for: %s',
    async (args, most) => {
      const open = { now: 0, most: 0 };
      const full = gate();
      const server = await serveSpeech(async (wire, request, number) => {
        open.now += 1;
        open.most = Math.max(open.most, open.now);
        // The first ones wait for each other; then there is time for one too many.
        if (open.now === most) full.open();
        await full.opened;
        await sleep(30);
        open.now -= 1;
        await speaking()(wire, request, number);
      });
      const box = new Sandbox();
      writeUserConfig(box, { engines: { mine: { url: server.url, concurrency: 8 } } });
      box.file('book.txt', 'One short paragraph of many.\n\n'.repeat(40));
      const run = await box.run(`${ARGS} --engine mine --max-chars 40 --no-cache ${args}`);
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(open.most).toBe(most);
    },
  );
});
