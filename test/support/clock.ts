import { onTestFinished, vi } from 'vitest';

/** A clock that the test moves on, until its end. One that `runs` goes on by itself as well. */
export function useMovedClock({ runs = false } = {}): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
    shouldAdvanceTime: runs,
  });
  onTestFinished(() => void vi.useRealTimers());
}
