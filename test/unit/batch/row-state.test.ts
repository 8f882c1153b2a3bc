import { describe, expect, it } from 'vitest';
import { type Shape, TextHash } from '../../../src/batch/row-key.ts';

const PAUSES = { chapter: 1.5, scene: 1.2, heading: 0.8, paragraph: 0.3, sentence: 0 };

const SHAPE: Shape = {
  owner: 'https://tts.example',
  voice: { speaker: 3, sampleRate: 22_050, instructions: 'slow' },
  mix: { pauses: PAUSES },
  maxChars: 1000,
};

function keyOf(shape: Partial<Shape>, ...pieces: readonly string[]): string {
  const hash = new TextHash();
  for (const piece of pieces.length > 0 ? pieces : ['Hello there.']) hash.add(piece);
  return hash.finish({ ...SHAPE, ...shape }).key;
}

describe('the key of a row', () => {
  it.each<[string, Partial<Shape>]>([
    ['another service', { owner: 'https://other.example' }],
    ['another speaker', { voice: { ...SHAPE.voice, speaker: 4 } }],
    ['another rate', { voice: { ...SHAPE.voice, sampleRate: 8000 } }],
    ['other instructions', { voice: { ...SHAPE.voice, instructions: 'fast' } }],
    ['a speed', { voice: { ...SHAPE.voice, speed: 1.5 } }],
    ['a loudness', { mix: { pauses: PAUSES, loudness: -18 } }],
    ['a pause after sentences', { mix: { pauses: { ...PAUSES, sentence: 0.5 } } }],
    ['another format', { encoded: ['mp3', null] }],
    ['smaller segments', { maxChars: 5 }],
  ])('is another one with %s', (_, shape) => {
    expect(keyOf(shape)).not.toBe(keyOf({}));
  });

  it('does not change with the limit of a text that is shorter', () => {
    expect(keyOf({ maxChars: 500 })).toBe(keyOf({}));
  });

  it('is the same for pieces and for the text as a whole', () => {
    expect(keyOf({}, 'Hello ', 'there.')).toBe(keyOf({}));
  });
});
