import { expect, onTestFinished, vi } from 'vitest';

/** A clock that the test moves on, until its end. One that `runs` goes on by itself as well. */
export function useMovedClock({ runs = false } = {}): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
    shouldAdvanceTime: runs,
  });
  onTestFinished(() => void vi.useRealTimers());
}

/** Fails work that takes more seconds of the processor than this. What else the machine does hardly counts. */
export async function withinSeconds(most: number, work: () => unknown): Promise<void> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1e6).toBeLessThan(most);
}
