import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { until } from '../../../src/sink/player-until.ts';

const never = new Promise<never>(() => {});
const reason = new Error('stopped');

describe('waiting until a promise is settled or a signal aborts', () => {
  it('comes to what the promise comes to, and leaves nothing behind at the signal', async () => {
    const { signal } = new AbortController();
    expect(await until(signal, Promise.resolve(1))).toBe(1);
    await expect(until(signal, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await expect.poll(() => getEventListeners(signal, 'abort').length).toBe(0);
  });

  it('ends with the reason of the signal, whenever that aborts', async () => {
    await expect(until(AbortSignal.abort(reason), never)).rejects.toBe(reason);
    const later = new AbortController();
    const waiting = until(later.signal, never);
    later.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});
