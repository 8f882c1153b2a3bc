import { describe, expect, it } from 'vitest';
import { type KeptShape, segmentKey } from '../../../src/voices/cache.ts';

const spoken: KeptShape = { identity: 'https://tts.example.com/api/tts', speaker: 181 };

describe('the key of a segment', () => {
  it('is 64 hex digits, and the same for the same', () => {
    expect(segmentKey(spoken, 'hello')).toMatch(/^[0-9a-f]{64}$/);
    expect(segmentKey({ ...spoken }, 'hello')).toBe(segmentKey(spoken, 'hello'));
  });

  it.each([
    ['address', { ...spoken, identity: 'https://tts.example.com/tts' }],
    ['speaker', { ...spoken, speaker: 18 }],
    ['sample rate', { ...spoken, sampleRate: 22_050 }],
    ['instructions', { ...spoken, instructions: '' }],
  ])('is another one with another %s', (_, other: KeptShape) => {
    expect(segmentKey(other, 'hello')).not.toBe(segmentKey(spoken, 'hello'));
  });

  it.each([
    ['hello', 'hello '],
    ['a\u0301', '\u00e1'],
    ['\ud800', '\ufffd'],
    ['\ud800', '\ud801'],
  ])('tells %j from %j', (one, other) => {
    expect(segmentKey(spoken, one)).not.toBe(segmentKey(spoken, other));
  });

  it('never takes the end of one part for the start of the next', () => {
    expect(segmentKey({ ...spoken, instructions: 'a","b' }, 'c')).not.toBe(
      segmentKey({ ...spoken, instructions: 'a' }, 'b","c'),
    );
  });
});
