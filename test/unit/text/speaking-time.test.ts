import { expect, it } from 'vitest';
import { leastSeconds, usualSeconds } from '../../../src/text/speaking-time.ts';

it.each([
  ['letters', 'It was a dark and stormy night. ', 10, 25],
  ['Cyrillic letters', 'Была тёмная и бурная ночь. ', 10, 25],
  ['words of Chinese', '这是一个又黑又暴风雨的夜晚。', 3, 7],
  ['syllables of Japanese', 'それはくらいあらしのよるでした。', 5, 10],
  ['syllables of Korean', '어둡고 폭풍우 치는 밤이었다. ', 4, 10],
])('A text in %s has a pace of its own.', (_, text, fewest, most) => {
  const long = text.repeat(20);
  const characters = Array.from(long).length;
  const pace = characters / usualSeconds(long);
  expect(pace).toBeGreaterThan(fewest);
  expect(pace).toBeLessThan(most);
  expect(leastSeconds(long)).toBeLessThan(usualSeconds(long) / 1.9);
});

it('No letter takes less than 0.033 s.', () => {
  expect(leastSeconds('x'.repeat(1000))).toBeCloseTo(33);
  expect(leastSeconds('')).toBe(0);
});
