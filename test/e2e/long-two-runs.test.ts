import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { expectSpoken } from '../support/book.ts';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { novel } from '../support/novel.ts';
import { wholePcm } from '../support/read-wav.ts';
import { isListening, named, Sandbox } from '../support/run.ts';
import { textOf, wavOf } from '../support/text-audio.ts';
import { writeUserConfig } from '../support/user-config.ts';

const BOOK = novel(10_000);
const ARGS = ['-f', 'book.txt', '--max-chars', '200', '--paragraph-pause', '0', '-q'];

/** A service that takes a while, with the texts that it was asked for. */
async function serveSlowly(milliseconds = 50) {
  const asked: string[] = [];
  const server = await serveBytes(async (wire, request, number) => {
    const { text } = request.json as { text: string };
    asked.push(text);
    await sleep(milliseconds);
    await complete(wavOf(text))(wire, request, number);
  });
  const box = new Sandbox();
  box.file('book.txt', BOOK);
  const options = { env: named(server.url, { TTS_CACHE: '1' }), patience: 110_000 };
  return { asked, box, options };
}

const heard = (box: Sandbox, name: string) => textOf(wholePcm(box.read(name)));
const twice = (asked: readonly string[]) => asked.filter((text, at) => asked.indexOf(text) < at);

test('Two runs of one book at once ask for each segment once, and both are whole.', async () => {
  const { asked, box, options } = await serveSlowly();
  const runs = ['one.wav', 'two.wav'].map((name) => box.tts([...ARGS, '-o', name], options));
  for (const run of await Promise.all(runs)) expect(run).toMatchObject({ status: 0, stderr: '' });
  expect(twice(asked)).toEqual([]);
  for (const name of ['one.wav', 'two.wav']) expectSpoken(heard(box, name), BOOK);
});

test('A run takes over what another one had begun before it died.', async () => {
  const { asked, box, options } = await serveSlowly(100);
  const dying = box.start([...ARGS, '-o', 'one.wav'], options);
  await expect.poll(() => asked.length).toBeGreaterThan(6);
  const heir = box.tts([...ARGS, '-o', 'two.wav'], options);
  await sleep(300);
  dying.child.kill('SIGKILL');
  await dying.ended.catch(() => {});
  expect(await heir).toMatchObject({ status: 0, stderr: '' });
  expectSpoken(heard(box, 'two.wav'), BOOK);
  // What the first run had under way, four at once, was lost with it.
  expect(twice(asked).length).toBeLessThanOrEqual(4);
});

test('A run that waits for another one is stopped by Ctrl-C, too.', async () => {
  const { box, asked, options } = await serveSlowly(5000);
  const one = box.start([...ARGS, '-o', 'one.wav'], options);
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  const waiting = box.start([...ARGS, '-o', 'two.wav'], options);
  await expect.poll(() => isListening(waiting)).toBe(true);
  expect((await waiting.endBy('SIGINT')).ended).toMatchObject({ status: 130 });
  expect((await one.endBy('SIGINT')).ended.status).toBe(130);
  expect(box.list()).toEqual(['book.txt']);
});

test('A run that is stopped by Ctrl-C leaves its segments to the other one at once.', async () => {
  const { box, asked, options } = await serveSlowly(100);
  const stopped = box.start([...ARGS, '-o', 'one.wav'], options);
  await expect.poll(() => asked.length).toBeGreaterThan(6);
  const other = box.tts([...ARGS, '-o', 'two.wav'], options);
  expect((await stopped.endBy('SIGINT')).ended.status).toBe(130);
  expect(await other).toMatchObject({ status: 0, stderr: '' });
  expectSpoken(heard(box, 'two.wav'), BOOK);
});

test('A book that the cache cannot hold is told before anything is paid, with the size that does.', async () => {
  const { box, asked, options } = await serveSlowly(0);
  writeUserConfig(box, { cacheSize: '20MB' });
  const told =
    /^tts: warning: about 37 MiB of audio do not fit into the cache of 20 MiB: .*; cacheSize: 0\.5GB in your own config holds it$/m;
  const dry = await box.tts([...ARGS.slice(0, -1), '-o', 'one.wav', '--dry-run'], options);
  expect(dry.stderr).toMatch(told);
  expect(asked).toEqual([]);
  const run = await box.tts([...ARGS.slice(0, -1), '-o', 'one.wav'], options);
  expect(run.stderr).toMatch(/^tts: warning: about \d+ MiB of audio do not fit/);
  writeUserConfig(box, { cacheSize: '0.5GB' });
  expect((await box.tts([...ARGS.slice(0, -1), '-o', 'one.wav'], options)).stderr).not.toMatch(/warning/);
});
