import { expect, onTestFinished, vi } from 'vitest';

/** Fakes the clock until the end of the test, which moves it. With `runs`, it also advances by itself. */
export function useMovedClock({ runs = false } = {}): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
    shouldAdvanceTime: runs,
  });
  onTestFinished(() => void vi.useRealTimers());
}

/** Fails if the work takes more seconds of CPU time, which hardly depends on the load of the machine. */
export async function withinSeconds(most: number, work: () => unknown): Promise<void> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1e6).toBeLessThan(most);
}
