import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatedKey } from '../../../src/serve/http.ts';

describe('repeatedKey', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"\\u0061" : 2}', 'a'],
    ['[{"a":1},{"b":{"c":1,"d":[],"c":1}}]', 'c'],
    ['{"":1,"x":{},"":2}', ''],
    ['{"\\"":1,"}":2,"\\"":3}', '"'],
    ['{"a":{"a":[{"a":"a"},"a","a"]},"b":"a"}', undefined],
    ['{"a":"\\\\","b":"\\"a\\":1"}', undefined],
    ['"text"', undefined],
  ])('of %s is %j', (json, key) => {
    JSON.parse(json);
    expect(repeatedKey(json)).toBe(key);
  });

  it('is none in what comes from JSON.stringify', () => {
    const compact = fc.json({ maxDepth: 5, noUnicodeString: false });
    fc.assert(
      fc.property(compact, (json) => {
        expect(repeatedKey(json)).toBeUndefined();
      }),
    );
  });

  it.each([
    ['plain', 'x'],
    ['escaped', '\\"'],
    ['braces', '{'],
  ])('bears a string of a MiB: %s', (_, unit) => {
    const long = unit.repeat(1024 * 1024);
    expect(repeatedKey(`{"a":"${long}","a":1}`)).toBe('a');
    expect(repeatedKey(`{"${long}":1,"${long}":1}`)).toHaveLength(JSON.parse(`"${long}"`).length);
  });
});
