import { describe, expect, it } from 'vitest';
import { speakers } from '../../../src/options/kinds.ts';
import { type ConfigFile, resolveSettings } from '../../../src/options/load.ts';

it('Speakers of several config files are known together, the nearer going first.', () => {
  const file = (place: ConfigFile['place'], named: object): ConfigFile => ({
    path: `/${place}/.ttsrc`,
    folder: `/${place}`,
    place,
    values: { speakers: speakers.data(named) },
  });
  const files = [file('project', { anna: 1 }), file('user', { anna: 2, bert: 3 })];
  expect(Object.fromEntries(resolveSettings({ flags: {}, env: {}, files }).speakers?.value ?? [])).toEqual({
    anna: { no: 1 },
    bert: { no: 3 },
  });
});

describe('the names in a config file', () => {
  it.each([
    [{ anna: -1.5 }, /^"anna": -1.5 is not allowed for "no"/],
    [{ anna: '181' }, /^"anna": "181" is not allowed for "no"/],
    [{ anna: { kind: 'x' } }, /^"anna": "no".*missing/],
    [
      { anna: { no: 1, sampleRate: 7999 } },
      /^"anna": 7999 is not allowed for "sampleRate"; .* 8000 to 48000/,
    ],
    [{ 12: 1 }, /^"12" cannot be the name/],
    [{ '': 1 }, /^"" cannot be the name/],
    [{ anna: [1] }, /^"anna": a list is not allowed/],
  ])('are refused where they make no sense: %j', (book, what) => {
    expect(speakers.data(book)).toBeUndefined();
    expect(speakers.fault?.(book)?.what).toMatch(what);
  });

  it('are refused with the nearest right key', () => {
    expect(speakers.fault?.({ anna: { no: 1, langage: 'hi' } })).toEqual({
      what: '"anna": unknown key "langage"',
      hint: 'did you mean "language"?',
    });
  });

  it('may be words that JavaScript knows', () => {
    expect(speakers.data(JSON.parse('{"__proto__": 3, "toString": 4}'))).toEqual(
      new Map([
        ['__proto__', { no: 3 }],
        ['toString', { no: 4 }],
      ]),
    );
  });

  it.each([[[]], [null], ['anna'], [181]])('are an object and not %j', (data) => {
    expect(speakers.data(data)).toBeUndefined();
  });
});

it.each([
  [{ engine: 'es' }, /"voice", .* is missing/],
  [{ voice: 'af_heart' }, /"engine", .* is missing/],
  [{ kind: 'neo.one' }, /"no", the number of the speaker, is missing/],
])('A name for a voice says what is missing: %j', (raw, what) => {
  const fault = speakers.fault?.({ anna: raw });
  expect(fault?.what).toMatch(what);
  expect(fault?.hint).toMatch(/"engine": "kokoro", "voice": "af_heart"/);
});
