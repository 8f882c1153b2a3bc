import { expect, it } from 'vitest';
import { ignoredHeader } from '../../../src/serve/speak.ts';

it('carries any text as a header can, so that it can be read back', () => {
  const phrases = ['with a smile', 'à la Ümit, 100 %\r\nX-Evil: 1', '慢慢地'];
  const header = ignoredHeader(phrases);
  expect(header).toMatch(/^[\x21-\x7e]+(, [\x21-\x7e]+)*$/);
  expect(header.split(', ').map(decodeURIComponent)).toEqual(phrases);
});

it('bears halves of surrogate pairs, and cuts a pair in half without failing', () => {
  expect(decodeURIComponent(ignoredHeader(['a\ud800b']))).toBe('a\ufffdb');
  expect(decodeURIComponent(ignoredHeader([`${'x'.repeat(99)}😀`]))).toBe(`${'x'.repeat(99)}\ufffd`);
});

it('stays short, however much was not understood', () => {
  const header = ignoredHeader(Array.from({ length: 10_000 }, () => '慢'.repeat(50)));
  expect(header.length).toBeLessThanOrEqual(2000);
  expect(header.length).toBeGreaterThan(1000);
});
