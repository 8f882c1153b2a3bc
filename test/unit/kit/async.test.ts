import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AsyncQueue } from '../../../src/kit/queue.ts';
import { aborted, closeQuietly, unlessAborted } from '../../../src/kit/wait.ts';

const never = new Promise<never>(() => {});

describe('a promise that a signal ends', () => {
  it('comes to what it comes to, and leaves nothing at the signal', async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(unlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
    await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('fails with the reason, whether the signal aborts before or meanwhile', async () => {
    const control = new AbortController();
    const waiting = unlessAborted(never, control.signal);
    control.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(unlessAborted(Promise.resolve(1), control.signal)).rejects.toThrow('gone');
  });
});

it('Whoever waits for nothing else hears of the signal before or later.', async () => {
  const control = new AbortController();
  const waiting = aborted(control.signal);
  control.abort();
  await expect(waiting).resolves.toBeUndefined();
  await expect(aborted(control.signal)).resolves.toBeUndefined();
});

it('An error of closing is a warning, and does not take the place of the error before it.', async () => {
  const warnings: string[] = [];
  const notices = { warn: (text: string) => void warnings.push(text) };
  const run = async () => {
    await using opened = {
      [Symbol.asyncDispose]: () => closeQuietly(() => Promise.reject(new Error('socket is gone')), notices),
    };
    throw Object.assign(new Error('no sound'), { opened });
  };
  await expect(run()).rejects.toThrow('no sound');
  expect(warnings).toEqual(['closing failed: socket is gone']);
});

describe('a queue', () => {
  const item = (number: number) => ({ number });

  async function numbers(queue: AsyncQueue<{ number: number }>): Promise<number[]> {
    const read: number[] = [];
    for await (const { number } of queue) read.push(number);
    return read;
  }

  it('gives its items in their order, whether they come before or after the reader', async () => {
    const taken: number[] = [];
    const queue = new AsyncQueue<{ number: number }>(({ number }) => void taken.push(number));
    for (const number of [1, 2, 3]) queue.push(item(number));
    const reading = numbers(queue);
    for (const number of [4, 5]) {
      await nextTurn();
      queue.push(item(number));
    }
    queue.end();
    expect(await reading).toEqual([1, 2, 3, 4, 5]);
    expect(taken).toEqual([1, 2, 3, 4, 5]);
  });

  it('throws the first error after the items before it', async () => {
    const queue = new AsyncQueue<{ number: number }>();
    queue.push(item(1));
    queue.end(new Error('first'));
    queue.end(new Error('second'));
    const reader = queue[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: { number: 1 } });
    await expect(reader.next()).rejects.toThrow('first');
  });

  it('tells of items that are dropped as of those that are read', () => {
    const taken: number[] = [];
    const queue = new AsyncQueue<{ number: number }>(({ number }) => void taken.push(number));
    for (const number of [1, 2]) queue.push(item(number));
    queue.clear();
    expect([queue.isEmpty, taken]).toEqual([true, [1, 2]]);
  });
});
