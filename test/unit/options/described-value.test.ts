import { describe, expect, it } from 'vitest';
import { describedValue } from '../../../src/options/kinds.ts';

describe('a value in a message', () => {
  it.each([
    ['plain words', '"plain words"'],
    ['who?', '"who?"'],
    [5, '5'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
    [null, 'null'],
    [['a'], 'a list'],
    [{}, 'an object'],
    ['https://x.example/api', '"https://x.example/api"'],
    ['https://me:secret@x.example/api', '"https://***@x.example/api"'],
    ['https://me:se/cr@et@x.example/api', '"https://***@x.example/api"'],
    ['me:secret@x.example:8080', '"***@x.example:8080"'],
    ['ftp://x.example/a?token=secret', '"ftp://x.example/a?***"'],
    ['ftp://x.example/a#secret', '"ftp://x.example/a#***"'],
  ])('is shown without what is secret in it: %j', (value, shown) => {
    expect(describedValue(value)).toBe(shown);
  });

  it('is not endless', () => {
    expect(describedValue('x'.repeat(10_000)).length).toBeLessThan(210);
  });
});
