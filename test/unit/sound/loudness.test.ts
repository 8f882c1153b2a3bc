import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Drops } from '../../../src/kit/drops.ts';
import { wavHeader } from '../../../src/sound/encode/wav.ts';
import { LoudnessMeter, levelled, type Turn } from '../../../src/sound/loudness.ts';
import { type PcmFormat, untagged } from '../../../src/sound/pcm.ts';
import { emptyFolder } from '../../support/folder.ts';
import { isThere, saidBy } from '../../support/programs.ts';
import { collect, inPieces } from './body.ts';

const ffmpeg = isThere('ffmpeg');

const FORMAT: PcmFormat = { encoding: 'integer', sampleRate: 22_050, channels: 1, bitsPerSample: 16 };

/** Syllables of a few tones, with pauses, at a peak of their own. */
function babble(seconds: number, peak: number, format = FORMAT): Buffer {
  const { sampleRate, channels } = format;
  const frames = Math.round(seconds * sampleRate);
  const samples = Int16Array.from({ length: frames * channels }, (_, at) => {
    const time = Math.floor(at / channels) / sampleRate;
    const isPause = time % 3 > 2.4;
    const syllable = Math.max(0, Math.sin(2 * Math.PI * 4 * time)) ** 2;
    const tones = [180, 370, 900, 2400].map(
      (pitch, number) => Math.sin(2 * Math.PI * pitch * time) / (number + 1),
    );
    return isPause
      ? 0
      : Math.round((32_767 * peak * syllable * tones.reduce((sum, tone) => sum + tone, 0)) / 2.1);
  });
  return Buffer.from(samples.buffer);
}

/** LUFS and dBTP as ffmpeg measures them. */
function measured(pcm: Buffer, format = FORMAT): { loudness: number; peak: number } {
  const path = join(emptyFolder(), 'a.wav');
  writeFileSync(path, Buffer.concat([wavHeader(format, pcm.length), pcm]));
  const quiet = ['-hide_banner', '-nostats', '-nostdin'];
  const said = saidBy('ffmpeg', [...quiet, '-i', path, '-af', 'ebur128=peak=true', '-f', 'null', '-']);
  const summary = said.slice(said.indexOf('Summary:'));
  const numberAfter = (label: RegExp) => Number(label.exec(summary)?.[1]);
  return { loudness: numberAfter(/I:\s+(-?[\d.]+)/), peak: numberAfter(/Peak:\s+(-?[\d.]+)/) };
}

async function level(
  pcm: Buffer,
  turns: readonly Turn[],
  { isLive = false, target = -18, format = FORMAT } = {},
) {
  const track = untagged({ format, bytes: undefined, pcm: inPieces(pcm, 9000) });
  return collect(levelled(track, { target, isLive, turns }).pcm);
}

function floats(pcm: Buffer): Float32Array {
  const samples = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.length / 2);
  return Float32Array.from(samples, (sample) => sample / 32_768);
}

describe.skipIf(!ffmpeg)('loudness', () => {
  it.each([
    [22_050, 1, 0.01],
    [48_000, 2, 0.9],
  ])('is measured as ffmpeg does: %s Hz, %s channels, a peak of %s', (sampleRate, channels, peak) => {
    const format = { ...FORMAT, sampleRate, channels };
    const pcm = babble(4, peak, format);
    const meter = new LoudnessMeter(sampleRate, channels);
    meter.push(floats(pcm));
    expect(Math.abs((meter.integrated ?? 0) - measured(pcm, format).loudness)).toBeLessThan(0.11);
  });

  it('of voices at −30, −20 and −12 LUFS becomes one, with one gain for each', async () => {
    const parts = [babble(3, 0.08), babble(3, 0.25), babble(3, 0.7)];
    const pcm = Buffer.concat(parts);
    const turns = parts.map((part, at) => ({ start: at * part.length, voice: `voice ${at}` }));
    const even = await level(pcm, turns);
    expect(even).toHaveLength(pcm.length);
    expect(Math.abs(measured(even).loudness + 18)).toBeLessThan(0.5);
    expect(measured(even).peak).toBeLessThanOrEqual(-1);
    for (const [at, part] of parts.entries()) {
      const own = even.subarray(at * part.length, (at + 1) * part.length);
      expect(Math.abs(measured(own).loudness + 18)).toBeLessThan(0.5);
      expect(spreadOfGain(part, own)).toBeLessThan(0.1);
    }
  });

  it('that needs peaks above full scale is limited at the peaks alone', async () => {
    const pcm = babble(6, 0.5);
    for (let at = 0; at < 32; at += 1) pcm.writeInt16LE(at % 8 < 4 ? -32_000 : 32_000, 2 * (30_000 + at));
    const loud = await level(pcm, [{ start: 0, voice: 'a' }], { target: -14 });
    expect(measured(loud).peak).toBeLessThanOrEqual(-1);
    expect(measured(loud).loudness).toBeGreaterThan(-16);
  });

  it('is that of all other samples, where some are no numbers', async () => {
    const format = { ...FORMAT, encoding: 'float', bitsPerSample: 32 } as const;
    const samples = floats(babble(3, 0.08));
    samples.set([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY], 1000);
    const even = await level(Buffer.from(samples.buffer), [{ start: 0, voice: 'a' }], { format });
    expect(Math.abs(measured(even, format).loudness + 18)).toBeLessThan(0.5);
  });

  it('of what is heard live comes from the beginning of each voice', async () => {
    const pcm = Buffer.concat([babble(6, 0.08), babble(6, 0.7)]);
    const turns = [0, pcm.length / 2].map((start) => ({ start, voice: start }));
    const even = await level(pcm, turns, { isLive: true });
    expect(even).toHaveLength(pcm.length);
    expect(Math.abs(measured(even).loudness + 18)).toBeLessThan(1);
  });

  it('of what was dropped while it is measured is not heard', async () => {
    const drops = new Drops();
    const [old, fresh] = [babble(1, 0.3), babble(4, 0.08)];
    async function* pcm() {
      yield old;
      drops.now();
      yield drops.flush;
      yield fresh;
    }
    const track = { ...untagged({ format: FORMAT, bytes: undefined, pcm: pcm() }), drops };
    const turns = [0, old.length].map((start) => ({ start, voice: start }));
    const even = await collect(levelled(track, { target: -18, turns, isLive: true }).pcm);
    expect(even).toHaveLength(fresh.length);
    expect(Math.abs(measured(even).loudness + 18)).toBeLessThan(1);
  });

  it('of a short answer is heard, though its writer waits', async () => {
    let isHeard = false;
    async function* pcm() {
      yield babble(1, 0.3);
      await vi.waitUntil(() => isHeard, 60_000);
    }
    const track = untagged({ format: FORMAT, bytes: undefined, pcm: pcm() });
    const turns = [{ start: 0, voice: 1 }];
    for await (const _ of levelled(track, { target: -18, turns, isLive: true }).pcm) isHeard = true;
    expect(isHeard).toBe(true);
  });

  it('of silence, of nothing and of a moment changes no length', async () => {
    for (const isLive of [true, false])
      for (const pcm of [Buffer.alloc(0), Buffer.alloc(8000), babble(0.05, 0.5)])
        expect(await level(pcm, [{ start: 0, voice: 1 }], { isLive })).toHaveLength(pcm.length);
  });
});

/** The difference in dB between the highest and the lowest gain of windows of 100 ms. */
function spreadOfGain(before: Buffer, after: Buffer): number {
  const [from, to] = [floats(before), floats(after)];
  const size = FORMAT.sampleRate / 10;
  const gains: number[] = [];
  for (let at = 0; at + size <= from.length; at += size) {
    const power = (samples: Float32Array) =>
      samples.subarray(at, at + size).reduce((sum, each) => sum + each * each, 0);
    if (power(from) / size > 1e-4) gains.push(10 * Math.log10(power(to) / power(from)));
  }
  return Math.max(...gains) - Math.min(...gains);
}
