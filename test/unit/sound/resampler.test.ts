import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadResampler, openSpeex, Resampler } from '../../../src/sound/convert.ts';
import { join } from '../../../src/sound/samples.ts';
import { sine } from '../engines/sine.ts';

const resampler = await loadResampler();
const RATES = [8_000, 22_050, 24_000, 48_000];

/** Passes samples through in pieces of the lengths given, over and over. */
function resample(samples: Float32Array, from: number, to: number, lengths: readonly number[]): Float32Array {
  const conversion = resampler(from, to);
  const pieces: Float32Array[] = [];
  for (let start = 0, turn = 0; start < samples.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    pieces.push(conversion.push(samples.subarray(start, start + length)));
    start += length;
  }
  return join([...pieces, conversion.end()]);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array) =>
  Buffer.from(buffer, byteOffset, byteLength);

const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 9_000 })), {
  minLength: 1,
  maxLength: 8,
});

describe.each([16_000, 22_050])('a voice of %i Hz', (from) => {
  it.each(RATES)('comes out at %i Hz the same however it is torn', (to) => {
    const input = sine(1_000, from, 0.5);
    const whole = resample(input, from, to, [input.length]);
    fc.assert(
      fc.property(lengths, (torn) => {
        expect(bytesOf(resample(input, from, to, torn)).equals(bytesOf(whole))).toBe(true);
      }),
      { numRuns: 5 },
    );
  });
});

it('makes as many frames as the rate says, at any rate and for any length', () => {
  const rates = fc.integer({ min: 8_000, max: 48_000 });
  fc.assert(
    fc.property(rates, rates, fc.integer({ min: 1, max: 5_000 }), (from, to, length) => {
      const made = resample(new Float32Array(length), from, to, [length]).length;
      expect(Math.abs(made - (length * to) / from)).toBeLessThanOrEqual(1);
    }),
    { numRuns: 50 },
  );
});

it('gives its memory back', async () => {
  const speex = await openSpeex();
  const use = () => new Resampler(speex, 44_101, 47_999).end();
  use();
  const size = speex.HEAPF32.length;
  for (let turn = 0; turn < 4_000; turn += 1) use();
  expect(speex.HEAPF32.length).toBe(size);
});
