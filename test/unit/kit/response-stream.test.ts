import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { ResponseStream } from '../../../src/kit/http/stream.ts';

const LIMIT_MS = 500;

/** undici's side of a request. */
const controller = { abort() {}, pause() {}, resume() {} } as unknown as Dispatcher.DispatchController;

/** Keeps the process from everything else, as a stopped job or a disk that stalls does. */
function block(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

test.each([
  ['small', 100],
  ['so large that the connection is paused', 1 << 19],
])('A piece that comes right after a pause of the process is no silence: %s', async (_, bytes) => {
  const stream = new ResponseStream(LIMIT_MS, new AbortController().signal);
  stream.onRequestStart(controller);
  stream.onResponseStart(controller, 200, { 'content-length': String(bytes) });
  const { body } = await stream.answer;
  const reading = body[Symbol.asyncIterator]();
  const first = reading.next();
  // Right after the timer, which then finds that it is late.
  const arrived = new Promise<void>((resolve) => {
    setTimeout(() => {
      stream.onResponseData(controller, Buffer.alloc(bytes));
      resolve();
    }, LIMIT_MS);
  });
  block(LIMIT_MS + 100);
  await arrived;
  expect((await first).value).toHaveLength(bytes);
  const second = reading.next();
  // By then the timer has made up its mind.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  stream.onResponseEnd();
  expect(await second).toEqual({ done: true, value: undefined });
});
