import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { expectSpoken, serveText } from '../support/book.ts';
import { serveBytes } from '../support/byte-server.ts';
import { complete, head, inTurn } from '../support/http-bytes.ts';
import { novel } from '../support/novel.ts';
import { wholePcm } from '../support/read-wav.ts';
import { named, Sandbox } from '../support/run.ts';
import { textOf } from '../support/text-audio.ts';
import { plainWav } from '../unit/sound/wav-builder.ts';

const pages = novel(20_000);
const ARGS = ['-f', 'book.txt', '-o', 'book.wav', '--max-chars', '200'];
/** Parts under way or waiting, with four requests at once. */
const LOOK_AHEAD = 8;

function kept(url: string) {
  return { env: named(url, { TTS_CACHE: '1', TTS_RETRIES: '8' }) };
}

function heard(sandbox: Sandbox, name = 'book.wav'): string {
  return textOf(wholePcm(sandbox.read(name)));
}

test('What was spoken once is not asked for again, and that is said.', async () => {
  const server = await serveText();
  const sandbox = new Sandbox();
  sandbox.file('book.txt', pages);
  expect(await sandbox.run(ARGS, kept(server.url))).toMatchObject({
    status: 0,
    stderr: expect.not.stringContaining('warning'),
  });
  const { requests } = server;
  const again = await sandbox.run(ARGS, kept(server.url));
  expect(again.stderr).toBe('tts: no request was made: everything came from the cache\n');
  expect(server.requests).toBe(requests);
  expectSpoken(heard(sandbox), pages);
});

test('A sentence that was changed in the middle of a book costs one request.', async () => {
  const server = await serveText();
  const sandbox = new Sandbox();
  sandbox.file('book.txt', pages);
  await sandbox.run(ARGS, kept(server.url));
  const { requests } = server;
  const middle = pages.indexOf('Tolkien', pages.length / 2);
  const edited = `${pages.slice(0, middle)}Tolstoi${pages.slice(middle + 7)}`;
  sandbox.file('book.txt', edited);
  expect((await sandbox.run(ARGS, kept(server.url))).status).toBe(0);
  expect(server.requests).toBe(requests + 1);
  expectSpoken(heard(sandbox), edited);
});

test('Of a text that repeats itself it is said how much was not asked for.', async () => {
  const server = await serveText();
  const sandbox = new Sandbox();
  sandbox.file('book.txt', 'The same sentence once more.\n\n'.repeat(20));
  const args = [...ARGS, '--max-chars', '30', '--concurrency', '1'];
  const { stderr } = await sandbox.run(args, kept(server.url));
  expect(stderr).toBe(`tts: ${20 - server.requests} of 20 segments came from the cache\n`);
});

test('A sound that was put together of two that differ is delivered, but not kept.', async () => {
  const take = (byte: number, bytes: number) => plainWav(Buffer.alloc(bytes, byte));
  const server = await serveBytes(
    inTurn(
      async (wire) => {
        await wire.write(head(200, { 'Content-Length': 30_044 }));
        await wire.write(take(0x11, 30_000).subarray(0, 20_044));
        wire.end();
      },
      complete(take(0x22, 30_000)),
    ),
  );
  const sandbox = new Sandbox();
  const args = ['one sentence', '--stream', '-v', '-o'];
  const run = await sandbox.run([...args, 'a.wav'], kept(server.url));
  expect(run.status).toBe(0);
  expect(run.stderr).toMatch(/the service sent different audio/);
  const pcm = sandbox.read('a.wav').subarray(44);
  expect(pcm.equals(Buffer.concat([Buffer.alloc(20_000, 0x11), Buffer.alloc(10_000, 0x22)]))).toBe(true);
  await sandbox.run([...args, 'b.wav'], kept(server.url));
  await sandbox.run([...args, 'c.wav'], kept(server.url));
  expect(sandbox.read('b.wav')).toEqual(sandbox.read('c.wav'));
  expect(server.requests).toHaveLength(3);
});

test('A reader that leaves is told nothing of the cache.', async () => {
  const server = await serveText({ framesPerByte: 20 });
  const sandbox = new Sandbox();
  sandbox.file('book.txt', pages);
  await sandbox.run(ARGS, kept(server.url));
  for (const text of [pages, pages.slice(0, -5)]) {
    sandbox.file('book.txt', text);
    const line = 'tts -f book.txt --max-chars 200 | head -c 1000 > part; exit $PIPESTATUS';
    expect(await sandbox.shell(line, kept(server.url))).toMatchObject({ status: 0, stderr: '' });
    expect(sandbox.read('part')).toHaveLength(1000);
  }
});

test.each([300, 500, 700, 1000])(
  'A run that is killed after %i ms is finished by the next one, at the cost of one look-ahead.',
  async (patience) => {
    const server = await serveText({ framesPerByte: 10, delay: { firstByteMs: 40, timesRealTime: 20 } });
    const sandbox = new Sandbox();
    sandbox.file('book.txt', pages);
    const killed = sandbox.start(ARGS, kept(server.url));
    await sleep(patience);
    killed.child.kill('SIGKILL');
    expect((await killed.ended).status).toBeNull();
    expect(sandbox.list().filter((name) => name === 'book.wav')).toEqual([]);
    expect((await sandbox.run(ARGS, kept(server.url))).status).toBe(0);
    const distinct = new Set(server.texts).size;
    expect(server.requests - distinct).toBeLessThanOrEqual(LOOK_AHEAD);
    expect(textOf(wholePcm(sandbox.read('book.wav')), 10)).not.toBe('');
  },
);

test('Two runs at the same time over one text and one cache are both right.', async () => {
  const server = await serveText({ fault: (number) => (number % 25 === 0 ? '500' : undefined) });
  const sandbox = new Sandbox();
  sandbox.file('book.txt', pages);
  const args = ['-f', 'book.txt', '--max-chars', '200', '-o'];
  const runs = await Promise.all(
    ['a.wav', 'b.wav'].map((name) => sandbox.tts([...args, name], kept(server.url))),
  );
  expect(runs.map(({ status }) => status)).toEqual([0, 0]);
  for (const name of ['a.wav', 'b.wav']) expectSpoken(heard(sandbox, name), pages);
});
