import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AsyncQueue } from '../../../src/kit/queue.ts';
import { drained, IdleError, IdleTimer, unlessAborted, watched } from '../../../src/kit/wait.ts';
import { gate } from '../../support/gate.ts';

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

describe('a full stream', () => {
  it('is waited for until it has room, and no listener stays behind', async () => {
    const stream = new PassThrough({ highWaterMark: 1 });
    for (let wait = 0; wait < 3; wait += 1) {
      stream.write('more than it holds');
      const waiting = drained(stream);
      stream.read();
      await waiting;
    }
    expect(stream.listenerCount('close') + stream.listenerCount('error')).toBe(0);
  });

  it('is not waited for any more once it is closed', async () => {
    const stream = new PassThrough({ highWaterMark: 1 });
    stream.write('more than it holds');
    const waiting = drained(stream);
    stream.on('error', () => {}).destroy(new Error('the reader left'));
    expect(await Promise.all([waiting, drained(stream)])).toEqual([undefined, undefined]);
  });
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

const LIMIT = 8000;

/** A watch on a clock that the test moves on, and what came of it. */
function watch() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] });
  onTestFinished(() => void vi.useRealTimers());
  const tooLong = vi.fn();
  return { silence: new IdleTimer(LIMIT, tooLong), tooLong };
}

describe('a silence', () => {
  it('is too long when the limit is over', async () => {
    const { tooLong } = watch();
    await vi.advanceTimersByTimeAsync(LIMIT - 1);
    expect(tooLong).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(100);
    expect(tooLong).toHaveBeenCalledExactlyOnceWith(expect.any(IdleError));
  });

  it('begins again with every sign of life', async () => {
    const { silence, tooLong } = watch();
    await vi.advanceTimersByTimeAsync(LIMIT - 1);
    silence.restart();
    await vi.advanceTimersByTimeAsync(LIMIT - 1);
    expect(tooLong).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(100);
    expect(tooLong).toHaveBeenCalledOnce();
  });

  it('is over with the answer', async () => {
    const { silence, tooLong } = watch();
    silence.stop();
    await vi.advanceTimersByTimeAsync(3 * LIMIT);
    expect(tooLong).not.toHaveBeenCalled();
  });
});

describe('pieces that are watched', () => {
  it('may rest with their reader, and are too late when their source rests', async () => {
    const { silence, tooLong } = watch();
    const stuck = gate();
    async function* source() {
      yield 1;
      yield 2;
      await stuck.opened;
    }
    const pieces = watched(source(), silence);
    expect((await pieces.next()).value).toBe(1);
    await vi.advanceTimersByTimeAsync(3 * LIMIT);
    expect((await pieces.next()).value).toBe(2);
    await vi.advanceTimersByTimeAsync(3 * LIMIT);
    expect(tooLong).not.toHaveBeenCalled();
    const end = pieces.next();
    await vi.advanceTimersByTimeAsync(LIMIT + 100);
    expect(tooLong).toHaveBeenCalledOnce();
    stuck.open();
    expect((await end).done).toBe(true);
  });

  it('are watched no more after their end', async () => {
    const { silence, tooLong } = watch();
    for await (const _ of watched([1, 2], silence));
    await vi.advanceTimersByTimeAsync(3 * LIMIT);
    expect(tooLong).not.toHaveBeenCalled();
  });
});
