import { describe, expect, test } from 'vitest';
import { expectSpoken, serveText } from '../support/book.ts';
import { NOVEL_CHARACTERS, novel } from '../support/novel.ts';
import { wholePcm } from '../support/read-wav.ts';
import { named, Sandbox } from '../support/run.ts';
import { textOf } from '../support/text-audio.ts';
import { everyTenth, type TextServer } from '../support/text-server.ts';

const book = novel();
/** Enough of it to have all that is in it. */
const chapters = novel(12_000);
const pages = novel(20_000);

interface Order {
  readonly text: string;
  readonly args: readonly string[];
  /** It tells whether the sound goes to a file or to standard output. */
  readonly toFile: boolean;
}

/** What is said of a run that takes longer than ten seconds, as on a busy machine. */
const PROGRESS = /^tts: (?:\d+\/\d+ segments|book\.wav) .*\n/gm;

/** Speaks a text and hears what came out; fails if anything but success is said. */
async function heard({ text, args, toFile }: Order, server: TextServer): Promise<string> {
  const sandbox = new Sandbox();
  sandbox.file('book.txt', text);
  const output = toFile ? ['-o', 'book.wav'] : [];
  const run = await sandbox.run(['-f', 'book.txt', ...args, ...output], {
    env: named(server.url, { TTS_RETRIES: '3' }),
  });
  expect({ status: run.status, stderr: run.stderr.replaceAll(PROGRESS, '') }).toEqual({
    status: 0,
    stderr: '',
  });
  if (toFile) return textOf(wholePcm(sandbox.read('book.wav')));
  return textOf(run.stdout.subarray(44));
}

test('The novel of these tests has as many characters as it promises.', () => {
  expect(Array.from(book).length).toBeGreaterThanOrEqual(NOVEL_CHARACTERS);
});

describe.each([20, 200, 5000])('With at most %i characters in a request', (maxChars) => {
  describe.each([1, 4, 16])('and %i requests at once', (concurrency) => {
    test.each([
      { toFile: true, stream: false },
      { toFile: true, stream: true },
      { toFile: false, stream: false },
      { toFile: false, stream: true },
    ])('all of a text is heard, in order and once: %o.', async ({ toFile, stream }) => {
      const server = await serveText();
      const args = ['--max-chars', `${maxChars}`, '--concurrency', `${concurrency}`];
      const order = { text: chapters, args: stream ? [...args, '--stream'] : args, toFile };
      expectSpoken(await heard(order, server), chapters);
      expect(server.texts.every((text) => Array.from(text).length <= maxChars)).toBe(true);
      expect(server.mostOpen).toBeLessThanOrEqual(concurrency);
    });
  });
});

test.each([
  { toFile: true, args: ['--max-chars', '200', '--concurrency', '16'] },
  { toFile: false, args: ['--stream'] },
])('A whole novel is heard, in order and once: %o.', async (order) => {
  expectSpoken(await heard({ ...order, text: book }, await serveText()), book);
});

test.each([
  { toFile: true, args: ['--max-chars', '200', '--concurrency', '16'] },
  { toFile: false, args: ['--max-chars', '200', '--concurrency', '16', '--stream'] },
  { toFile: false, args: ['--max-chars', '2000', '--concurrency', '1', '--stream'] },
])('Where a tenth of the answers fail, in five ways, all is heard the same: %o.', async (order) => {
  const server = await serveText({ fault: everyTenth });
  expectSpoken(await heard({ ...order, text: pages }, server), pages);
  expect(server.requests).toBeGreaterThan(10);
});

test('A service that takes two requests at once gets a text through with few refusals.', async () => {
  const server = await serveText({ limit: 2, delay: { firstByteMs: 5, timesRealTime: 1000 } });
  const order = { text: pages, args: ['--concurrency', '8', '--max-chars', '100'], toFile: true };
  expectSpoken(await heard(order, server), pages);
  expect(server.requests - server.refused).toBeGreaterThan(150);
  expect(server.refused).toBeLessThan(20);
});
