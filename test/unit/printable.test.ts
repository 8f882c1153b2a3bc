import { describe, expect, it } from 'vitest';
import { withoutEscapes } from '../../src/printable.ts';

describe('text without escape sequences', () => {
  it.each([
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x1b]0;title\x07words', 'words'],
    ['\x1b[A\x1b[Bkey', 'key'],
  ])('of %j is %j', (text, clean) => {
    expect(withoutEscapes(text)).toBe(clean);
  });

  // Node's own function takes minutes for these.
  it.each([';#', ']', '[0', '[;', ']8;;a'])('is found in time for 100,000 times ESC %s', (unit) => {
    expect(withoutEscapes(`${`\x1b${unit}`.repeat(100_000)}\nend`)).toMatch(/\nend$/);
  });
});
