import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEGREES, readers, readInstructions } from '../../../src/engines/style.ts';

const text = readFileSync('docs/instructions.md', 'utf8');
const USUAL = { rate: 1, pitch: 1, loudness: 1, pause: 1 };
const KEYS = { speed: 'rate', pitch: 'pitch', loudness: 'loudness', pauses: 'pause' } as const;
type Subject = keyof typeof KEYS;

/** The rows of all tables that tell of a kind of factor, with what stands in the second and third column. */
const rows = Array.from(
  text.matchAll(/^\| (speed|pitch|loudness|pauses) \| (.+) \| (\S+) \|$/gm),
  (match) => {
    const [, subject, words = '', factor] = match;
    return { key: KEYS[subject as Subject], words, factor: Number(factor) };
  },
);

const examples = rows.flatMap(({ key, words, factor }) =>
  Array.from(words.matchAll(/`([^`]+)`/g), ([, said = '']) => ({ key, said, factor })),
);

describe('docs/instructions.md', () => {
  it.each(examples)('says what "$said" comes to', ({ key, said, factor }) => {
    expect(readInstructions(said)).toEqual({ style: { ...USUAL, [key]: factor }, ignored: [] });
  });

  it('has an example for every row of the table, and names every degree', () => {
    const missing = readers().filter(
      ({ patterns }) => !examples.some(({ said }) => patterns.some((pattern) => said.search(pattern) >= 0)),
    );
    expect(missing.map(({ row }) => row)).toEqual([]);
    expect(Object.keys(DEGREES).filter((degree) => !text.includes(`\`${degree}\``))).toEqual([]);
  });

  it.each([
    ['speed', 'at 0.01 speed', '100x'],
    ['pitch', 'a pitch of 0.01', 'a pitch of 100'],
    ['loudness', 'volume at 0.01', 'volume at 100'],
    ['pauses', 'no pauses', 'pauses 100 times as long'],
  ] as const)('tells the limits of %s', (subject, least, most) => {
    const told = rows.find(({ key, words }) => key === KEYS[subject] && !words.includes('`'));
    const reached = [least, most].map((said) => readInstructions(said).style[KEYS[subject]]);
    expect(reached).toEqual([Number(told?.words), told?.factor]);
  });

  it('begins with an example in which everything is understood', () => {
    const [, said = ''] = /-i "([^"]+)"/.exec(text) ?? [];
    expect(readInstructions(said)).toEqual({
      style: { rate: 0.894, pitch: 0.8, loudness: 1, pause: 2 },
      ignored: [],
    });
    expect(readInstructions('cheerful')).toEqual({ style: USUAL, ignored: ['cheerful'] });
  });
});
