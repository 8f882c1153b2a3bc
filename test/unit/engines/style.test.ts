import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { styleOf } from '../../../src/engines/style.ts';

const plain = { rate: 1, pitch: 1, loudness: 1, pause: 1 };

describe('styleOf', () => {
  it.each([
    ['', {}],
    ['Please SPEAK Slowly and softly.', { rate: 0.8, loudness: 0.5 }],
    ['in a deep, slow voice', { pitch: 0.8, rate: 0.8 }],
    ['high-pitched at low volume', { pitch: 1.25, loudness: 0.5 }],
    ['slow down; longer pauses between the sentences', { rate: 0.8, pause: 2 }],
    ['fast, quickly', { rate: 1.563 }],
    ['shout, loud', { loudness: 2 }],
    ['whisper softly', { loudness: 0.15 }],
    ['long pauses, '.repeat(1000).concat('no pauses'), { pause: 0 }],
  ])('understands all of "%s"', (text, changes) => {
    expect(styleOf(text)).toEqual({ style: { ...plain, ...changes }, ignored: [] });
  });

  it.each([
    ['cheerful', {}, ['cheerful']],
    ['Please speak slowly like a pirate, and warmly.', { rate: 0.8 }, ['like a pirate', 'warmly']],
    ['very slowly', { rate: 0.8 }, ['very']],
    ['20% slower, at 0.8 speed', { rate: 0.8 }, ['20%', '0.8']],
    ["don't shout", {}, ["don't shout"]],
    ['don’t be so loud, slowly', { rate: 0.8 }, ['don’t be so loud']],
    ['not too fast or less loud', {}, ['not too fast or less loud']],
    ['speak up but never shout', { loudness: 1.5 }, ['never shout']],
    ['constructor, __proto__', {}, ['constructor', '__proto__']],
  ])('says what of "%s" has no effect', (text, changes, ignored) => {
    expect(styleOf(text)).toEqual({ style: { ...plain, ...changes }, ignored });
  });
});

describe('docs/instructions.md', () => {
  const text = readFileSync('docs/instructions.md', 'utf8');
  const KEYS: Record<string, keyof typeof plain> = {
    speed: 'rate',
    pitch: 'pitch',
    loudness: 'loudness',
    pauses: 'pause',
  };

  it('names the factors of all its words, and their limits', () => {
    const rows = [...text.matchAll(/^\| ([a-z, ]+) \| (`.+`) \| ([\d., ]+) \|$/gm)];
    expect(rows).toHaveLength(12);
    for (const [, kinds = '', words = '', factors = ''] of rows) {
      const changes = Object.fromEntries(
        kinds.split(', ').map((kind, at) => [KEYS[kind], Number(factors.split(', ')[at])]),
      );
      for (const [, word] of words.matchAll(/`([^`]+)`/g))
        expect(styleOf(word), word).toEqual({ style: { ...plain, ...changes }, ignored: [] });
    }
    for (const [kind, least, most] of [
      ['speed', 'slow', 'fast'],
      ['pitch', 'deep', 'high'],
      ['loudness', 'soft', 'loud'],
      ['pauses', 'no pauses', 'long pauses'],
    ] as const) {
      const limit = (word: string) => styleOf(`${word}, `.repeat(50)).style[KEYS[kind] ?? 'rate'];
      expect(text).toContain(`| ${kind} | ${limit(least)} | ${limit(most)} |`);
    }
  });

  it('begins with an example in which everything is understood', () => {
    const [, said = ''] = /-i "([^"]+)"/.exec(text) ?? [];
    expect(styleOf(said)).toEqual({ style: { rate: 0.8, pitch: 0.8, loudness: 1, pause: 2 }, ignored: [] });
  });
});
