import { describe, expect, it } from 'vitest';
import { silence } from '../../../src/sound/pcm.ts';
import { speechFormat } from './wav-builder.ts';

describe('silence', () => {
  it.each([
    [0, 0],
    [0.1, 2205],
    [0.00002, 0],
    [0.00003, 1],
    [60, 1_323_000],
  ])('of %f seconds has %i whole frames, in pieces that fit in memory', (seconds, frames) => {
    const pieces = [...silence({ ...speechFormat, channels: 2, bitsPerSample: 24 }, seconds)];
    expect(pieces.reduce((sum, piece) => sum + piece.length, 0)).toBe(frames * 6);
    for (const piece of pieces) {
      expect(piece.length % 6).toBe(0);
      expect(piece.length).toBeLessThanOrEqual(65_536);
    }
  });

  it.each([
    [8, 0x80],
    [16, 0],
  ])('of %i bits is the middle of their range', (bitsPerSample, level) => {
    const bytes = Buffer.concat([...silence({ ...speechFormat, bitsPerSample }, 0.5)]);
    expect(new Set(bytes)).toEqual(new Set([level]));
  });
});
