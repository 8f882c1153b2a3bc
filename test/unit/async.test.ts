import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { aborted, closeQuietly, unlessAborted } from '../../src/async.ts';

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
