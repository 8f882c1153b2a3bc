import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crc16, infoFrame } from '../../../src/sound/encode/mp3.ts';
import { Lame } from '../../../src/sound/encode/mp3-worker.ts';
import { decoded } from '../../support/decoded.ts';
import { emptyFolder } from '../../support/folder.ts';
import { isThere } from '../../support/programs.ts';

const wasm = createRequire(import.meta.url).resolve('wasm-media-encoders/wasm/mp3');
const lame = await WebAssembly.compile(readFileSync(wasm));
const ffmpeg = isThere('ffmpeg');

/** A tone that begins and ends at once. */
function tone(frames: number, sampleRate: number): Float64Array {
  return Float64Array.from(
    { length: frames },
    (_, at) => 0.4 * Math.sin((2 * Math.PI * 330 * at) / sampleRate),
  );
}

function encodedTone(frames: number, how: { channels: number; sampleRate: number; bitrate: number }): Buffer {
  const encoder = new Lame(lame, how);
  const lanes = Array.from({ length: how.channels }, () => tone(frames, how.sampleRate));
  const half = Math.floor(frames / 2);
  const bytes = Buffer.concat([
    encoder.encode(lanes.map((lane) => lane.subarray(0, half))),
    encoder.encode(lanes.map((lane) => lane.subarray(half))),
    encoder.end(),
  ]);
  const sound = { first: bytes.subarray(0, 4), bytes: bytes.length, crc: crc16(bytes), samples: frames };
  return Buffer.concat([infoFrame(sound), bytes]);
}

describe('an MP3', () => {
  // One rate of each version of MPEG.
  const cases = [
    { sampleRate: 8000, channels: 1, bitrate: 64 },
    { sampleRate: 22_050, channels: 2, bitrate: 96 },
    { sampleRate: 44_100, channels: 1, bitrate: 96 },
  ];

  it.for(cases)('has as many samples as went in: $sampleRate Hz, $channels', async (how, { skip }) => {
    skip(!ffmpeg, 'no ffmpeg here');
    const path = join(emptyFolder(), 'a.mp3');
    for (const frames of [47, 1105]) {
      writeFileSync(path, encodedTone(frames, how));
      expect(decoded(path)).toHaveLength(frames * how.channels);
    }
  });

  it('begins with its first sample.', async ({ skip }) => {
    skip(!ffmpeg, 'no ffmpeg here');
    const path = join(emptyFolder(), 'a.mp3');
    writeFileSync(path, encodedTone(22_050, { channels: 1, sampleRate: 22_050, bitrate: 64 }));
    const wanted = tone(22_050, 22_050);
    const noise = decoded(path).reduce(
      (sum, sample, at) => sum + (sample / 32_768 - (wanted[at] ?? 0)) ** 2,
      0,
    );
    const sound = wanted.reduce((sum, sample) => sum + sample ** 2, 0);
    expect(10 * Math.log10(sound / noise)).toBeGreaterThan(20);
  });

  it('has room for its Info frame at the lowest bitrate.', async ({ skip }) => {
    skip(!ffmpeg, 'no ffmpeg here');
    const path = join(emptyFolder(), 'a.mp3');
    writeFileSync(path, encodedTone(24_000, { channels: 1, sampleRate: 24_000, bitrate: 8 }));
    expect(decoded(path)).toHaveLength(24_000);
  });
});
