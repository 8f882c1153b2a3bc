import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { expectSpoken, serveText } from '../support/book.ts';
import { novel, novelBook } from '../support/novel.ts';
import { isThere } from '../support/programs.ts';
import { named, Sandbox } from '../support/run.ts';
import { textOf } from '../support/text-audio.ts';

const MEBIBYTE = 2 ** 20;

/** The most memory that a process has had at once, in bytes. */
function peakOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** Runs the program in front of a reader; its process is known by a file. */
function readBy(reader: string, args: string, sandbox: Sandbox, url: string) {
  const line = `(echo $BASHPID > pid; exec tts -f ${args}) | ${reader}`;
  return sandbox.startShell(line, { env: named(url, { TTS_RETRIES: '3' }) });
}

test.runIf(process.platform === 'linux' && isThere('pv')).each([
  ['book.epub --stream --play --player "sh listen"', 'cat'],
  ['book.txt --max-chars 5000 --concurrency 16', 'sh listen'],
  ['book.txt --max-chars 5000 --concurrency 16 --stream', 'sh listen'],
])('A listener in real time costs neither memory nor further requests: %s.', async (args, reader) => {
  const server = await serveText({ framesPerByte: 1470 });
  const sandbox = new Sandbox();
  const text = novel();
  sandbox.file('book.txt', text);
  sandbox.file('book.epub', novelBook(text));
  sandbox.file('listen', 'exec pv -q -L 44100 > /dev/null');
  const run = readBy(reader, args, sandbox, server.url);
  await vi.waitFor(() => expect(server.requests).toBeGreaterThan(0), 60_000);
  await sleep(4000);
  const { requests } = server;
  await sleep(1500);
  expect(server.requests - requests).toBeLessThanOrEqual(2);
  expect(peakOf(Number(sandbox.read('pid')))).toBeLessThan(150 * MEBIBYTE);
  run.child.kill('SIGKILL');
});

test('A reader that stops makes no requests meanwhile, and gets all of the sound when it goes on.', async () => {
  const server = await serveText({ framesPerByte: 20 });
  const sandbox = new Sandbox();
  const text = novel(60_000);
  sandbox.file('book.txt', text);
  const reader = '(until [ -e go ]; do sleep 0.1; done; cat)';
  const run = readBy(reader, 'book.txt --stream --paragraph-pause 0', sandbox, server.url);
  let requests = 0;
  const hasStopped = async () => {
    requests = server.requests;
    await sleep(1500);
    return requests > 0 && server.requests === requests;
  };
  await expect.poll(hasStopped).toBe(true);
  expect(requests).toBeLessThan(20);
  sandbox.file('go');
  expectSpoken(textOf((await run.ended).stdout.subarray(44), 20), text);
});

test('What is to be heard next is not stuck behind what comes later, though memory is used up.', async () => {
  const refused = (number: number) => (number <= 2 ? '429' : undefined);
  const server = await serveText({ framesPerByte: 1000, fault: refused });
  const sandbox = new Sandbox();
  const text = novel(80_000).replace(/\n\n/g, ' ');
  sandbox.file('book.txt', text);
  const args = 'book.txt --max-chars 5000 --concurrency 16 --stream';
  const run = await readBy('cat > book.raw', args, sandbox, server.url).ended;
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  expectSpoken(textOf(sandbox.read('book.raw').subarray(44), 1000), text);
});

test('A reader that leaves ends the run, also while the service says nothing.', async () => {
  const server = await serveText({
    framesPerByte: 4000,
    fault: (number) => (number > 1 ? 'stop' : undefined),
  });
  const sandbox = new Sandbox();
  sandbox.file('book.txt', novel(5000));
  const run = await readBy('head -c 100 > /dev/null', 'book.txt --stream', sandbox, server.url).ended;
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
});
