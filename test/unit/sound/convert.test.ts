import { describe, expect, it } from 'vitest';
import { converted } from '../../../src/sound/convert.ts';
import { frameBytes, type PcmFormat } from '../../../src/sound/pcm.ts';
import { sampleReader, sampleWriter } from '../../../src/sound/samples.ts';
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
  const bytes = Buffer.alloc((all.length * format.bitsPerSample) / 8);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const write = sampleWriter(format);
  for (const [at, sample] of all.entries()) write(view, (at * format.bitsPerSample) / 8, sample);
  return bytes;
}

function samplesOf(bytes: Buffer, format: PcmFormat): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const read = sampleReader(format);
  const size = format.bitsPerSample / 8;
  return Array.from({ length: bytes.length / size }, (_, at) => read(view, at * size));
}

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
    const mono = Buffer.from(Int16Array.of(7, -9).buffer);
    const both = await convert(mono, target, stereo);
    expect([...new Int16Array(Uint8Array.from(both).buffer)]).toEqual([7, 7, -9, -9]);
    const floats: PcmFormat = { ...stereo, encoding: 'float', bitsPerSample: 32 };
    expect(samplesOf(await convert(pcm, stereo, floats), floats)).toEqual(
      [100, 300, -5, 5].map((sample) => sample / 32_768),
    );
  });

  it('lets go of its source when its reader leaves', async () => {
    let closed = false;
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(2_000);
      } finally {
        closed = true;
      }
    }
    const speech = { format: { ...target, sampleRate: 8_000 }, bytes: undefined, pcm: endless() };
    for await (const piece of converted(speech, target).pcm) if (piece.length > 0) break;
    expect(closed).toBe(true);
  });
});
