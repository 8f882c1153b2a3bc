import { expect, it } from 'vitest';
import { bareFormat, evenPieces, mono } from '../../../src/sound/convert.ts';
import type { PcmFormat } from '../../../src/sound/pcm.ts';

async function* pieces(...buffers: Uint8Array[]) {
  yield* buffers;
}

async function samplesOf(format: Partial<PcmFormat>, bytes: Uint8Array): Promise<number[]> {
  const samples: number[] = [];
  for await (const piece of mono(pieces(bytes), { ...bareFormat(8000), ...format })) samples.push(...piece);
  return samples;
}

it.each<[string, Partial<PcmFormat>, Uint8Array, number[]]>([
  ['16-bit mono, unchanged', {}, Uint8Array.of(1, 0, 255, 127, 0, 128), [1, 32_767, -32_768]],
  ['the mean of two channels', { channels: 2 }, Uint8Array.of(10, 0, 20, 0, 1, 0, 2, 0), [15, 2]],
  ['8 bits without a sign', { bitsPerSample: 8 }, Uint8Array.of(0, 128, 255), [-32_768, 0, 32_512]],
  [
    '24 bits, rounded',
    { bitsPerSample: 24 },
    Uint8Array.of(127, 1, 0, 128, 1, 0, 0, 0, 128),
    [1, 2, -32_768],
  ],
  ['32 bits, clipped', { bitsPerSample: 32 }, Uint8Array.of(255, 255, 255, 127, 0, 0, 7, 0), [32_767, 7]],
  [
    'floats, clipped',
    { bitsPerSample: 32, encoding: 'float' },
    new Uint8Array(Float32Array.of(0.5, -1, 1.5, -2).buffer),
    [16_384, -32_768, 32_767, -32_768],
  ],
])('Sound of an engine becomes 16-bit mono: %s.', async (_, format, bytes, samples) => {
  expect(await samplesOf(format, bytes)).toEqual(samples);
});

it('Samples at an odd place of their buffer are read.', async () => {
  expect(await samplesOf({}, Uint8Array.of(9, 1, 0, 2, 0).subarray(1))).toEqual([1, 2]);
});

it('Bytes of samples that are torn between two pieces are put together; half a sample at the end is dropped.', async () => {
  const whole: number[] = [];
  for await (const piece of evenPieces(pieces(Uint8Array.of(1), Uint8Array.of(2, 3), Uint8Array.of(4, 5)))) {
    expect(piece.length % 2).toBe(0);
    whole.push(...piece);
  }
  expect(whole).toEqual([1, 2, 3, 4]);
});
