import { describe, expect, it } from 'vitest';
import {
  check,
  choice,
  choicesOf,
  fromText,
  named,
  number,
  object,
  oneOrMore,
  openObject,
  optional,
  type Schema,
  text,
  toggle,
  whole,
} from '../../../src/kit/schema.ts';

const rate = number({ min: 8000, max: 48_000 });
const pace = object({ rate, word: optional(choice('slow', 'fast')) });

function problemOf(schema: Schema, data: unknown): string {
  const result = check(schema, data);
  return 'value' in result ? 'none' : `${result.kind}: ${result.path} ${result.problem}`;
}

describe('a check', () => {
  it.each([
    [rate, 7000, 'wrong:  must be 8000 or more'],
    [rate, 50_000, 'wrong:  must be 48000 or less'],
    [rate, Number.NaN, 'wrong:  must be a number'],
    [rate, '8000', 'wrong:  must be a number'],
    [whole({ min: 0, max: 9 }), 1.5, 'wrong:  must be a whole number'],
    [text(), ' \n', 'wrong:  must be a text that is not blank'],
    [choice('read', 'skip'), 'red', 'wrong:  must be one of read, skip'],
    [pace, 1, 'wrong:  must be an object'],
    [pace, {}, 'missing: rate is missing'],
    [pace, { rate: 1 }, 'wrong: rate must be 8000 or more'],
    [pace, { rate, wort: 'slow' }, 'wrong: rate must be a number'],
    [pace, { rate: 8000, wort: 'slow' }, 'unknown: wort is not known: did you mean "word"?'],
    [
      pace,
      JSON.parse('{"rate":8000,"__proto__":1}'),
      'unknown: __proto__ is not known: there are: rate, word',
    ],
    [object({ pace }), { pace: { rate: 1 } }, 'wrong: pace.rate must be 8000 or more'],
    [openObject({ pace }), { other: 1, pace: {} }, 'missing: pace.rate is missing'],
    [named(text(), rate, 'must be names'), { a: 9000, b: 1 }, 'wrong: b must be 8000 or more'],
  ])('of %# names the first problem and its place', (schema: Schema, data, problem) => {
    expect(problemOf(schema, data)).toBe(problem);
  });

  it('gives the value as the schema makes it', () => {
    expect(check(oneOrMore(text(), 'must be a text'), 'one')).toEqual({ value: ['one'] });
    expect(check(named(text(), rate, 'must be names'), { a: 9000 })).toEqual({
      value: new Map([['a', 9000]]),
    });
    expect(check(openObject({ rate }), { rate: 9000, other: 1 })).toEqual({ value: { rate: 9000 } });
  });
});

describe('text', () => {
  const voices = named(text(), oneOrMore(text(), 'must be a text'), 'must be names');
  it.each([
    [rate, ' 8000.5 ', 8000.5],
    [rate, '-1', -1],
    [rate, '.5', 0.5],
    [rate, '0x10', '0x10'],
    [rate, '', ''],
    [toggle(), 'Yes', true],
    [toggle(), '0', false],
    [toggle(), 'constructor', 'constructor'],
    [choice('read', 'skip'), ' Read ', 'read'],
    [text(), ' as it is ', ' as it is '],
    [oneOrMore(text(), ''), ['a,b.txt', 'c.txt'], ['a,b.txt', 'c.txt']],
    [rate, ['8000', '9000'], 9000],
    [pace, 'rate=9000, word=fast', { rate: 9000, word: 'fast' }],
    [pace, ['other=1', 'rate=9000'], { other: '1', rate: 9000 }],
    [pace, 'rate', 'rate'],
    [voices, 'Alice=anna\n*=b=c', { Alice: ['anna'], '*': ['b=c'] }],
  ])('for %# becomes data', (schema: Schema, given: string | string[], data) => {
    expect(fromText(schema, given)).toEqual(data);
  });

  it('may be one of the words of a choice', () => {
    expect(choicesOf(choice('read', 'skip'))).toEqual(['read', 'skip']);
    expect(choicesOf(toggle())).toBeUndefined();
  });
});
