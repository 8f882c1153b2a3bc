import { expect, it, vi } from 'vitest';
import { ProgressNotes } from '../../../src/cli/progress.ts';

it('A long run is told after 10 s and then each 30 s, until it is over.', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
  const told: string[] = [];
  let count = 0;
  {
    using _notes = new ProgressNotes({ note: (text) => void told.push(text) }, async () => {
      count += 1;
      return `note ${count}`;
    });
    await vi.advanceTimersByTimeAsync(9_000);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(62_000);
    expect(told).toEqual(['note 1', 'note 2', 'note 3']);
  }
  await vi.advanceTimersByTimeAsync(120_000);
  expect(told).toHaveLength(3);
  vi.useRealTimers();
});
