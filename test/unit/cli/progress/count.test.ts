import { expect, it, vi } from 'vitest';
import { ProgressCount } from '../../../../src/cli/terminal/progress-count.ts';
import { ExitCode, TtsError } from '../../../../src/error.ts';
import { useMovedClock } from '../../../support/clock.ts';
import { inPieces } from '../../audio/body.ts';
import { speechFormat } from '../../audio/wav-builder.ts';

it('speaks of a pause only when there was no sound for a while', async () => {
  useMovedClock();
  const count = new ProgressCount((text) => text);
  const pcm = inPieces(new Uint8Array(200), 100);
  const segment = { text: 'hello', line: 1, startsParagraph: true, index: 0 };
  const { speech } = count.watch({ segment, speech: { format: speechFormat, bytes: 200, pcm } });
  await speech?.pcm[Symbol.asyncIterator]().next();
  const error = new TtsError('busy', { exitCode: ExitCode.service, retry: {} });
  count.event({ type: 'retry', error, seconds: 5 });
  await vi.advanceTimersByTimeAsync(900);
  expect(count.state.waiting).toBeUndefined();
  await vi.advanceTimersByTimeAsync(200);
  expect(count.state.waiting).toMatchObject({ reason: 'busy', secondsLeft: expect.closeTo(3.9) });
  await vi.advanceTimersByTimeAsync(4000);
  expect(count.state.waiting).toBeUndefined();
});
