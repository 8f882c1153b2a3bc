import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { segments } from '../../../../src/service/engine/segments.ts';

const whole = (text: string) => text.trim();
const texts = (text: string) => [...segments(text, whole)].map((segment) => segment.text);
const ends = (text: string) => [...segments(text, whole)].map((segment) => segment.end);

describe('segments', () => {
  it('are sentences', () => {
    expect(texts('Dr. Smith came. He saw! Did he win?')).toEqual([
      'Dr. Smith came.',
      'He saw!',
      'Did he win?',
    ]);
  });

  it('know what ends with them', () => {
    expect(ends('One. Two.\n\nThree.')).toEqual(['sentence', 'paragraph', 'sentence']);
  });

  it('leave out what cannot be spoken', () => {
    const spoken = [
      ...segments('One. 你好。 Two.', (sentence) => sentence.replace(/[^\x20-\x7e]/gu, '').trim()),
    ];
    expect(spoken.map(({ text }) => text)).toEqual(['One.', 'Two.']);
  });

  it('begin early, with a clause of a long first sentence', () => {
    const [first, ...rest] = texts(`When all was said and done, ${'and so on '.repeat(5)}they left.`);
    expect(first).toBe('When all was said and done,');
    expect(rest).toHaveLength(1);
  });

  it('end with a clause where a sentence is too long', () => {
    const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');
    const [first] = texts(`${words(30)}, ${words(30)}.`);
    expect(first?.split(' ')).toHaveLength(30);
  });

  it('are of 40 words, 400 characters and words of 60 letters at most, and lose nothing', () => {
    const piece = fc.oneof(
      fc.lorem({ maxCount: 60 }),
      fc.string({ unit: 'grapheme' }),
      fc.integer({ min: 1, max: 900 }).map((length) => 'x'.repeat(length)),
      fc.integer({ min: 1, max: 900 }).map((length) => '字'.repeat(length)),
      fc.constantFrom(', ', '. ', '\n\n', '\n', '; '),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const cut = texts(text);
        for (const segment of cut) {
          const words = segment.split(/\s+/u);
          expect(words.length).toBeLessThanOrEqual(40);
          expect(segment.length).toBeLessThanOrEqual(400);
          expect(Math.max(...words.map((word) => word.length))).toBeLessThanOrEqual(60);
        }
        expect(cut.join('').replace(/\s/gu, '')).toBe(text.replace(/\s/gu, ''));
      }),
    );
  });
});
