import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Passage, passages } from '../../../src/engines/passages.ts';

const whole = (text: string) => text.trim();
const texts = async (text: string) => (await cut(text, whole)).map((segment) => segment.text);
const ends = async (text: string) => (await cut(text, whole)).map((segment) => segment.end);

async function cut(text: string, normalise: (sentence: string) => string): Promise<Passage[]> {
  const all: Passage[] = [];
  for await (const segment of passages(text, normalise, new AbortController().signal)) all.push(segment);
  return all;
}

describe('segments', () => {
  it('are sentences', async () => {
    expect(await texts('Dr. Smith came. He saw! Did he win?')).toEqual([
      'Dr. Smith came.',
      'He saw!',
      'Did he win?',
    ]);
  });

  it('know what ends with them', async () => {
    expect(await ends('One. Two.\n\nThree.')).toEqual(['sentence', 'paragraph', 'sentence']);
  });

  it('leave out what cannot be spoken', async () => {
    const spoken = await cut('One. 你好。 Two.', (sentence) => sentence.replace(/[^\x20-\x7e]/gu, '').trim());
    expect(spoken.map(({ text }) => text)).toEqual(['One.', 'Two.']);
  });

  it('are looked for no more when the signal aborts', async () => {
    const control = new AbortController();
    let looked = 0;
    const look = () => {
      looked += 1;
      return '';
    };
    const found = passages('你好。'.repeat(50_000), look, control.signal);
    const next = found.next();
    setImmediate(() => control.abort(new Error('the client left')));
    await expect(next).rejects.toThrow('the client left');
    expect(looked).toBeLessThan(25_000);
  });

  it('let others have their turn while nothing is found that can be spoken', async () => {
    let turns = 0;
    const count = setInterval(() => {
      turns += 1;
    });
    expect(await cut('你好。'.repeat(50_000), () => '')).toEqual([]);
    clearInterval(count);
    expect(turns).toBeGreaterThan(3);
  });

  it('begin early, with a clause of a long first sentence', async () => {
    const [first, ...rest] = await texts(`When all was said and done, ${'and so on '.repeat(5)}they left.`);
    expect(first).toBe('When all was said and done,');
    expect(rest).toHaveLength(1);
  });

  it('begin with a later clause where the first one is long, and with no part of a clause', async () => {
    const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');
    const lengths = async (text: string) => (await texts(text)).map((segment) => segment.split(' ').length);
    expect(await lengths(`${words(20)}, ${words(15)}.`)).toEqual([20, 15]);
    expect(await lengths(`${words(30)}, ${words(5)}.`)).toEqual([35]);
    expect(await lengths(`${words(35)}.`)).toEqual([35]);
    expect(await lengths(`Well. A ${words(19)}, ${words(15)}.`)).toEqual([1, 35]);
  });

  it('end with a clause where a sentence is too long', async () => {
    const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');
    const [first] = await texts(`${words(30)}, ${words(30)}.`);
    expect(first?.split(' ')).toHaveLength(30);
  });

  it('are short where much is read out for each character, at borders of words or else anywhere', async () => {
    const numbers = Array.from({ length: 50 }, (_, index) => `${1_000_000 + 7919 * index}`);
    const spoken = await texts(numbers.join(' '));
    expect(spoken.join(' ').split(' ')).toEqual(numbers);
    expect(Math.max(...spoken.map((segment) => segment.length))).toBeLessThanOrEqual(5 * 8);
    for (const huge of ['9'.repeat(500), 'b'.repeat(500), '&x'.repeat(250), 'd41d8cd98f00b204'.repeat(30)]) {
      const pieces = await texts(huge);
      expect(pieces.join('').replaceAll(' ', '')).toBe(huge);
      expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(100);
    }
  });

  it('of prose are as long as ever, with a few numbers, names and short forms in it', async () => {
    const sentence =
      'On 12 May 1995, Mr. Szczepański of NATO and the U.S. embassy’s Dr. Schwartz hadn’t yet read well-known ' +
      'strengths of their three-year plan, which cost them 5% of it, but didn’t they know and guess that much by then?';
    expect(sentence.split(' ').length).toBeGreaterThan(35);
    expect(await texts(`So. ${sentence}`)).toEqual(['So.', sentence]);
  });

  it('are of 40 words, 400 characters and words of 60 letters at most, and lose nothing', async () => {
    const piece = fc.oneof(
      fc.lorem({ maxCount: 60 }),
      fc.string({ unit: 'grapheme' }),
      fc.integer({ min: 1, max: 900 }).map((length) => 'x'.repeat(length)),
      fc.integer({ min: 1, max: 900 }).map((length) => '字'.repeat(length)),
      fc.constantFrom(', ', '. ', '\n\n', '\n', '; '),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const text = pieces.join('');
        const spoken = await texts(text);
        for (const segment of spoken) {
          const words = segment.split(/\s+/u);
          expect(words.length).toBeLessThanOrEqual(40);
          expect(segment.length).toBeLessThanOrEqual(400);
          expect(Math.max(...words.map((word) => word.length))).toBeLessThanOrEqual(60);
        }
        expect(spoken.join('').replace(/\s/gu, '')).toBe(text.replace(/\s/gu, ''));
      }),
    );
  });
});
