import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestName } from '../../../src/kit/words.ts';
import {
  baseUrl,
  byteCount,
  list,
  number,
  pauses,
  speaker,
  toggle,
  url,
  words,
} from '../../../src/options/kinds.ts';

describe('a kind of value', () => {
  it('number: from text only in plain digits, within its range', () => {
    const rate = number({ min: 8000, max: 48_000, unit: 'Hz' });
    expect(['8000', '48000', ' 16000 ', '22050.5'].map(rate.text)).toEqual([8000, 48_000, 16_000, 22_050.5]);
    for (const wrong of [
      '7999',
      '48001',
      '1e4',
      '0x2000',
      '-8000',
      '+8000',
      'NaN',
      'Infinity',
      '',
      ' ',
      '8 000',
      '8,000',
    ])
      expect(rate.text(wrong)).toBeUndefined();
    for (const wrong of ['8000', Number.NaN, Number.POSITIVE_INFINITY, null, true, [8000]])
      expect(rate.data(wrong)).toBeUndefined();
    expect(number({ min: 0, max: 9, whole: true }).data(1.5)).toBeUndefined();
  });

  it('count of bytes: any number from 0 from data, in whole bytes', () => {
    expect([0, 10.5, 1e9].map(byteCount.data)).toEqual([0, 11, 1e9]);
    for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY, null, true])
      expect(byteCount.data(wrong)).toBeUndefined();
  });

  it('pairs: text and data, with what is wrong in words', () => {
    const { text, data, fault } = pauses;
    const said = new Map([
      ['scene', 2],
      ['heading', 0.5],
    ]);
    expect(text(' scene=2, heading = 0.5')).toEqual(said);
    expect(data({ scene: 2, heading: 0.5 })).toEqual(said);
    expect(data('scene=2,heading=0.5')).toEqual(said);
    for (const wrong of ['', ' ', 'scene', 'scene=', '=1', 'scene=1,', 'scen=1', 'scene=61', 'scene=-1'])
      expect([text(wrong), data(wrong)], wrong).toEqual([undefined, undefined]);
    for (const wrong of [{}, [], null, 1, { scene: '' }, { scene: true }])
      expect(data(wrong)).toBeUndefined();
    expect(fault?.('scen=1')?.hint).toContain('did you mean "scene"?');
    expect(fault?.('scene=61')?.what).toContain('"61" is not allowed for "scene"');
    expect(fault?.('scene')?.what).toBe('"scene" is not a name with a value');
  });

  it('toggle: common words from text, and nothing but booleans from data', () => {
    expect(['1', 'TRUE', 'yes', 'on', '0', 'false', 'No', 'off'].map(toggle.text)).toEqual([
      ...[true, true, true, true],
      ...[false, false, false, false],
    ]);
    expect([toggle.text('maybe'), toggle.text(''), toggle.data('true'), toggle.data(1)]).toEqual(
      Array(4).fill(undefined),
    );
  });

  it('speaker: whole numbers, or names', () => {
    expect(['0', '7', '1190', '3.0', 'anna', ' anna '].map(speaker.text)).toEqual([
      0,
      7,
      1190,
      3,
      'anna',
      'anna',
    ]);
    for (const wrong of ['+1', '--1', '-x', '1.5', '', ' ', '99999999999999999999'])
      expect(speaker.text(wrong)).toBeUndefined();
    for (const wrong of [1.5, 2 ** 53, Number.NaN, null, {}, []]) expect(speaker.data(wrong)).toBeUndefined();
  });

  it('base URL: http and https, without what has no meaning there', () => {
    expect(baseUrl.text('https://a.example/api//')?.href).toBe('https://a.example/api');
    for (const wrong of [
      'a.example',
      'ftp://a',
      'https://u@a',
      'https://:p@a',
      'https://a?x',
      'https://a#x',
      'https://',
      'javascript:1',
    ])
      expect(baseUrl.text(wrong)).toBeUndefined();
    expect(url('http').text('http:x')?.hostname).toBe('x');
  });

  it('list: every entry of its kind', () => {
    expect(list(words).data(['a', 'b'])).toEqual(['a', 'b']);
    for (const wrong of ['a', ['a', ''], [1], null, {}]) expect(list(words).data(wrong)).toBeUndefined();
  });

  it('never throws, whatever is said', () => {
    const kinds = [
      ...[number({ min: 0, max: 1 }), byteCount, toggle, words],
      ...[speaker, baseUrl, url('http'), list(baseUrl)],
    ];
    const property = fc.property(fc.anything(), fc.string(), (data, text) => {
      for (const kind of kinds) {
        kind.data(data);
        kind.text(text);
      }
    });
    expect(() => fc.assert(property)).not.toThrow();
  });
});

describe('nearestName', () => {
  const names = ['speaker', 'sampleRate', 'baseUrl', 'apiKey'];

  it.each([
    ['speeker', 'speaker'],
    ['SPEAKER', 'speaker'],
    ['sample_rate', 'sampleRate'],
    ['baseURL', 'baseUrl'],
    ['api-key', 'apiKey'],
  ])('finds what was meant by %s', (typed, meant) => {
    expect(nearestName(typed, names)).toBe(meant);
  });

  it('finds nothing where nothing is near', () => {
    expect(nearestName('qqqqqqqq', names)).toBeUndefined();
    expect(nearestName('x', [])).toBeUndefined();
  });
});
