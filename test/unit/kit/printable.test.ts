import { describe, expect, it } from 'vitest';
import { printableLines, withoutEscapes } from '../../../src/kit/words.ts';

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

it.each([
  ['a\x1b[31mb\x1b]8;;http://x\x07c', 'abc'],
  ['one\r\ntwo\rthree\u2028four\x0c', 'one\ntwo\nthree\nfour\n'],
  ['\ttab \u{1F468}\u200D\u{1F469} \u202Eback\u0007\u009B2J', '\ttab \u{1F468}\u200D\u{1F469} back'],
])('Lines of text are fit for a terminal: %j', (text, fit) => {
  expect(printableLines(text)).toBe(fit);
});
