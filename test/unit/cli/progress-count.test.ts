import { expect, it, vi } from 'vitest';
import { ProgressCount } from '../../../src/cli/progress.ts';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { useMovedClock } from '../../support/clock.ts';
import { segmentOf } from '../run/segment-of.ts';
import { speechFormat } from '../sound/wav-builder.ts';

it('speaks of a pause only when there was no sound for a while', async () => {
  useMovedClock();
  const count = new ProgressCount((text) => text);
  const pcm = (async function* () {})();
  const segment = segmentOf('hello');
  count.onPart({ segment, speech: { format: speechFormat, bytes: 200, pcm } });
  count.onPiece(100);
  const error = new TtsError('busy', { exitCode: ExitCode.service, retry: {} });
  count.onEvent({ type: 'retry', error, seconds: 5 });
  await vi.advanceTimersByTimeAsync(900);
  expect(count.state.waiting).toBeUndefined();
  await vi.advanceTimersByTimeAsync(200);
  expect(count.state.waiting).toMatchObject({ reason: 'busy', secondsLeft: expect.closeTo(3.9) });
  await vi.advanceTimersByTimeAsync(4000);
  expect(count.state.waiting).toBeUndefined();
});

it('counts the chapters that are heard', () => {
  const count = new ProgressCount((text) => text.toUpperCase());
  expect(count.state.chapter).toBeUndefined();
  const [first, second] = ['One', 'Two'].map((title, index) => ({ number: index + 5, title, level: 1 }));
  for (const chapter of [first, first, second])
    count.onPart({ segment: { ...segmentOf('hello'), chapter }, speech: undefined });
  expect(count.state.chapter).toEqual({ number: 2, title: 'TWO' });
});
