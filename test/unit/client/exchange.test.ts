import { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { Line } from '../../../src/client/line.ts';
import { Exchange } from '../../../src/client/response-stream.ts';

const LIMIT_MS = 500;

/** undici's side of a request. */
const controller = { abort() {} } as unknown as Dispatcher.DispatchController;

/** Keeps the process from everything else, as a stopped job or a disk that stalls does. */
function block(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

test.each([
  ['small', 100],
  ['so large that the connection rests', 1 << 21],
])('A piece that comes right after a pause of the process is no silence: %s', async (_, bytes) => {
  const exchange = new Exchange(LIMIT_MS, new Line(), new AbortController().signal);
  exchange.onRequestStart(controller);
  exchange.sentOver(new Socket());
  exchange.onResponseStart(controller, 200, { 'content-length': String(bytes) });
  const { body } = await exchange.answer;
  const reading = body[Symbol.asyncIterator]();
  const first = reading.next();
  // Right behind the timer, which then finds that it is late.
  const arrived = new Promise<void>((resolve) => {
    setTimeout(() => {
      exchange.onResponseData(controller, Buffer.alloc(bytes));
      resolve();
    }, LIMIT_MS);
  });
  block(LIMIT_MS + 100);
  await arrived;
  expect((await first).value).toHaveLength(bytes);
  const second = reading.next();
  // By then the timer has made up its mind.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  exchange.onResponseEnd();
  expect(await second).toEqual({ done: true, value: undefined });
});
