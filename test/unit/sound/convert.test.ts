import { describe, expect, it } from 'vitest';
import { converted, evenPieces, mono } from '../../../src/sound/convert.ts';
import { bareFormat, frameBytes, type PcmFormat } from '../../../src/sound/pcm.ts';
import { ByteReader, bytesOf, floatsOf } from '../../../src/sound/samples.ts';
import { signalToNoise, sine } from '../engines/sine.ts';
import { collect, inPieces } from './body.ts';

const KINDS = [
  { encoding: 'integer', bitsPerSample: 8 },
  { encoding: 'integer', bitsPerSample: 16 },
  { encoding: 'integer', bitsPerSample: 24 },
  { encoding: 'integer', bitsPerSample: 32 },
  { encoding: 'float', bitsPerSample: 32 },
] as const;

const target: PcmFormat = { encoding: 'integer', sampleRate: 22_050, channels: 1, bitsPerSample: 16 };

/** The same samples on all channels. */
function pcmOf(samples: Iterable<number>, format: PcmFormat): Buffer {
  const all = [...samples].flatMap((sample) => Array.from({ length: format.channels }, () => sample));
  return Buffer.from(bytesOf(Float32Array.from(all), format));
}

const samplesOf = (bytes: Buffer, format: PcmFormat) => [...floatsOf(bytes, format)];

function convert(pcm: Buffer, from: PcmFormat, to: PcmFormat, frames = 1000): Promise<Buffer> {
  const pieces = inPieces(pcm, frames * frameBytes(from));
  return collect(converted({ format: from, bytes: pcm.length, pcm: pieces }, to).pcm);
}

describe('sound in another format', () => {
  const rates = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];
  const formats = rates.flatMap((sampleRate, at) =>
    KINDS.slice(at % KINDS.length, (at % KINDS.length) + 1).map((kind) => ({
      ...kind,
      sampleRate,
      channels: 1 + (at % 2),
    })),
  );

  it.each(formats)('has the same duration, to the frame: from %o', async (from) => {
    const frames = 12_345;
    const pcm = pcmOf(sine(440, from.sampleRate, 2).subarray(0, frames), from);
    const made = await convert(pcm, from, target);
    expect(made.length / 2).toBe(Math.round((frames * 22_050) / from.sampleRate));
  });

  it.each(KINDS)('keeps a sine, whatever the kind of its samples: %o', async (kind) => {
    const from = { ...kind, sampleRate: 48_000, channels: 2 };
    const made = await convert(pcmOf(sine(1_000, 48_000, 0.5), from), from, target);
    const samples = new Int16Array(Uint8Array.from(made).buffer).subarray(2_000, -2_000);
    expect(signalToNoise(samples, 1_000, 22_050)).toBeGreaterThan(kind.bitsPerSample === 8 ? 40 : 60);
  });

  it('is the same however it is torn', async () => {
    const from = { ...target, sampleRate: 16_000 };
    const pcm = pcmOf(sine(440, 16_000, 1), from);
    const whole = await convert(pcm, from, target, 16_000);
    expect((await convert(pcm, from, target, 77)).equals(whole)).toBe(true);
  });

  it('has no frame where there was none, and few where there were few', async () => {
    const from = { ...target, sampleRate: 8_000 };
    expect(await convert(Buffer.alloc(0), from, target)).toHaveLength(0);
    expect(await convert(pcmOf([0.5], from), from, target)).toHaveLength(2 * 3);
  });

  it('has all samples of a smaller kind in a larger one, with nothing lost', async () => {
    const from = { ...target, bitsPerSample: 8 };
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at));
    for (const kind of KINDS) {
      const to = { ...target, ...kind };
      const there = await convert(bytes, from, to);
      expect((await convert(there, to, from)).equals(bytes)).toBe(true);
    }
  });

  it('has the mean of the channels on each of another number, and keeps the channels of the same number', async () => {
    const stereo = { ...target, channels: 2 };
    const pcm = Buffer.from(Int16Array.of(100, 300, -5, 5).buffer);
    expect(samplesOf(await convert(pcm, stereo, target), target)).toEqual([200 / 32_768, 0]);
    const one = Buffer.from(Int16Array.of(7, -9).buffer);
    const both = await convert(one, target, stereo);
    expect([...new Int16Array(Uint8Array.from(both).buffer)]).toEqual([7, 7, -9, -9]);
    const floats: PcmFormat = { ...stereo, encoding: 'float', bitsPerSample: 32 };
    expect(samplesOf(await convert(pcm, stereo, floats), floats)).toEqual(
      [100, 300, -5, 5].map((sample) => sample / 32_768),
    );
  });
});

async function* pieces(...buffers: Uint8Array[]) {
  yield* buffers;
}

async function monoOf(format: Partial<PcmFormat>, bytes: Uint8Array): Promise<number[]> {
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
  expect(await monoOf(format, bytes)).toEqual(samples);
});

it('Samples at an odd place of their buffer are read.', async () => {
  expect(await monoOf({}, Uint8Array.of(9, 1, 0, 2, 0).subarray(1))).toEqual([1, 2]);
});

it('Bytes of samples that are torn between two pieces are put together; half a sample at the end is dropped.', async () => {
  const whole: number[] = [];
  for await (const piece of evenPieces(pieces(Uint8Array.of(1), Uint8Array.of(2, 3), Uint8Array.of(4, 5)))) {
    expect(piece.length % 2).toBe(0);
    whole.push(...piece);
  }
  expect(whole).toEqual([1, 2, 3, 4]);
});

it('The position counts what is consumed, also after bytes that were given back.', async () => {
  const reader = new ByteReader(inPieces(Buffer.from('0123456789'), 3));
  expect((await reader.peek(5)).toString()).toBe('01234');
  expect(reader.position).toBe(0);
  const taken = await reader.take(7);
  expect(reader.position).toBe(7);
  reader.unread(taken.subarray(2));
  expect(reader.position).toBe(2);
  expect((await reader.take(100)).toString()).toBe('23456789');
  expect(reader.position).toBe(10);
});
