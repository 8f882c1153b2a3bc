import { describe, expect, it } from 'vitest';
import type { PcmFormat } from '../../../src/sound/pcm.ts';
import { bytesOf } from '../../../src/sound/samples.ts';
import { atSpeed } from '../../../src/sound/tempo.ts';
import { collect, inPieces } from './body.ts';

const RATE = 22_050;
const SECONDS = 4;
const PITCH = 200;

/** A tone with the overtones of a voice. */
function tone(format: PcmFormat): Uint8Array {
  const { sampleRate, channels } = format;
  const samples = Array.from({ length: sampleRate * SECONDS * channels }, (_, at) => {
    const phase = (2 * Math.PI * PITCH * Math.floor(at / channels)) / sampleRate;
    return [1, 2, 3].reduce((sum, n) => sum + Math.sin(n * phase) / (4 * n), 0);
  });
  return bytesOf(samples, format);
}

const spoken = (speed: number, format: PcmFormat, size = 4096): Promise<Buffer> =>
  collect(atSpeed({ format, bytes: undefined, pcm: inPieces(tone(format), size) }, speed).pcm);

/** Hz, by the crossings of zero of the fundamental, far from both ends. */
function pitchOf(bytes: Buffer): number {
  const samples = Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(2 * at));
  const middle = samples.slice(samples.length / 4, (3 * samples.length) / 4);
  let best = { lag: 0, sum: Number.NEGATIVE_INFINITY };
  for (let lag = RATE / 400; lag < RATE / 100; lag += 1) {
    const from = Math.round(lag);
    let sum = 0;
    for (let at = 0; at + from < middle.length; at += 1) sum += (middle[at] ?? 0) * (middle[at + from] ?? 0);
    sum /= middle.length - from;
    if (sum > best.sum) best = { lag: from, sum };
  }
  return RATE / best.lag;
}

const mono = { encoding: 'integer', sampleRate: RATE, channels: 1, bitsPerSample: 16 } as const;

describe('another speed', () => {
  it.each([0.25, 1.3, 4])('of %s has its duration to the frame, and the pitch', async (speed) => {
    const bytes = await spoken(speed, mono);
    expect(bytes.length / 2).toBe(Math.round((RATE * SECONDS) / speed));
    expect(Math.abs(pitchOf(bytes) - PITCH)).toBeLessThan(3);
  });

  it('is the same however the sound is cut', async () => {
    const whole = await spoken(1.3, mono, 1e6);
    for (const size of [2, 1000]) expect((await spoken(1.3, mono, size)).equals(whole)).toBe(true);
  });

  it.each([
    ['two channels', { ...mono, channels: 2 }],
    ['8 bits', { ...mono, bitsPerSample: 8 }],
    ['floats', { ...mono, encoding: 'float', bitsPerSample: 32 }],
  ] as const)('keeps the format: %s', async (_, format) => {
    const bytes = await spoken(2, format);
    const size = (format.channels * format.bitsPerSample) / 8;
    expect(bytes.length / size).toBe((RATE * SECONDS) / 2);
  });

  it('of 1 is the sound itself', () => {
    const sound = { format: mono, bytes: 4, pcm: inPieces(Buffer.alloc(4)) };
    expect(atSpeed(sound, 1)).toBe(sound);
  });
});
