import { expect, test } from 'vitest';
import { timestamp } from '../../../src/sound/pcm.ts';

test.each([
  { frames: 0, sampleRate: 22_050, shown: '00:00:00,000' },
  { frames: 11, sampleRate: 22_050, shown: '00:00:00,000' },
  { frames: 12, sampleRate: 22_050, shown: '00:00:00,001' },
  { frames: 48_000 * 36_000 + 24, sampleRate: 48_000, shown: '10:00:00,001' },
  { frames: 22_050 * 3599.9999, sampleRate: 22_050, shown: '01:00:00,000' },
  { frames: 8000 * 3600 * 123, sampleRate: 8000, shown: '123:00:00,000' },
])('$frames frames at $sampleRate Hz are $shown.', ({ frames, sampleRate, shown }) => {
  expect(timestamp(frames, sampleRate, ',')).toBe(shown);
});
