import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { IdleError, IdleTimer, watched } from '../../../src/kit/wait.ts';
import { gate } from '../../support/gate.ts';

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
