import { expect, it, test } from 'vitest';
import { cueTexts, linesOf, timestamp } from '../../../src/run/subtitles.ts';

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

const SENTENCE =
  'The quick brown fox jumps over the lazy dog, and nobody knows why it does so every day of the year. ';

it.each([
  ['one long sentence', SENTENCE.trim(), 6],
  ['many sentences', `${SENTENCE}It does. ${SENTENCE}`.trim(), 15],
  ['a text without spaces', '天地玄黄宇宙洪荒。'.repeat(20), 40],
  ['a slow text', 'One two three four five six seven.', 30],
  ['a word without an end', 'x'.repeat(500), 20],
])('Cues have at most two lines of 42 characters and 7 s: %s', (_, text, seconds) => {
  const cues = cueTexts(text, seconds);
  expect(cues.length).toBeGreaterThan(1);
  expect(cues.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
  const all = Array.from(text).length;
  for (const cue of cues) {
    expect(linesOf(cue).length).toBeLessThanOrEqual(2);
    for (const line of linesOf(cue)) expect(Array.from(line).length).toBeLessThanOrEqual(42);
    expect((seconds * Array.from(cue).length) / all).toBeLessThanOrEqual(7);
  }
});

it('A text that fits stays one cue, and parts of a long sentence have about the same length.', () => {
  expect(cueTexts('Short. And one more.', 3)).toEqual(['Short. And one more.']);
  const [first = '', second = ''] = cueTexts(SENTENCE.trim(), 6);
  expect(Math.abs(first.length - second.length)).toBeLessThan(20);
  expect(cueTexts(`Short one. ${SENTENCE}`.trim(), 6.5)[0]).toMatch(/^Short one\./);
});
