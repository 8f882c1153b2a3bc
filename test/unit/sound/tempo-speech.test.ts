import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { atSpeed } from '../../../src/sound/tempo.ts';
import { isThere } from '../../support/programs.ts';
import { pitch } from '../engines/pitch.ts';

const RATE = 16_000;
const SECONDS = 2;
const format = { encoding: 'integer', sampleRate: RATE, channels: 1, bitsPerSample: 16 } as const;

/** Hz: the formants of "ah", "ee", "oo" and "eh". */
const VOWELS = [
  [700, 1200],
  [300, 2300],
  [350, 800],
  [550, 1800],
] as const;

/** A man says vowels of a fifth of a second, with a pitch that falls, and pauses after every fourth one. */
function speech(): Int16Array {
  const samples = new Int16Array(RATE * SECONDS);
  let phase = 0;
  for (const at of samples.keys()) {
    const seconds = at / RATE;
    phase += (130 - 5 * seconds) / RATE;
    const syllable = Math.floor(seconds / 0.2);
    if (syllable % 5 === 4) continue;
    const [first = 0, second = 0] = VOWELS[syllable % 5] ?? [];
    const swell = Math.sin(Math.PI * ((seconds / 0.2) % 1));
    let sum = 0;
    for (let n = 1; n * 130 < RATE / 2; n += 1) {
      const loudness = (formant: number) => 1 / (1 + ((n * 130 - formant) / 120) ** 2);
      sum += (loudness(first) + 0.6 * loudness(second)) * Math.sin(2 * Math.PI * n * phase);
    }
    samples[at] = 6000 * swell * sum;
  }
  return samples;
}

async function ours(sound: Int16Array, speed: number): Promise<Int16Array> {
  async function* pcm() {
    for (let at = 0; at < sound.length; at += 4000) yield new Uint8Array(sound.slice(at, at + 4000).buffer);
  }
  const all: Uint8Array[] = [];
  for await (const piece of atSpeed({ format, bytes: undefined, pcm: pcm() }, speed).pcm)
    all.push(Uint8Array.from(piece));
  return new Int16Array(Uint8Array.from(Buffer.concat(all)).buffer);
}

function soxs(sound: Int16Array, speed: number): Int16Array {
  const raw = `-t raw -r ${RATE} -e signed -b 16 -c 1 -`.split(' ');
  const input = new Uint8Array(sound.buffer);
  const output = execFileSync('sox', [...raw, ...raw, 'tempo', '-s', `${speed}`], { input, maxBuffer: 1e8 });
  return new Int16Array(Uint8Array.from(output).buffer);
}

const SLICES = 20;
const WINDOW = 512;
const BANDS = [150, 250, 350, 500, 700, 900, 1200, 1500, 1800, 2300, 2800, 3500];

type Bands = readonly number[];

/** The energy of each band in each slice of the sound, in decibels. */
function spectrum(sound: Int16Array): Bands {
  return Array.from({ length: SLICES }, (_, slice) => {
    const start = Math.floor(((slice + 0.5) / SLICES) * sound.length - WINDOW / 2);
    return BANDS.map((hertz) => {
      let [real, imaginary] = [0, 0];
      for (let at = 0; at < WINDOW; at += 1) {
        const value = (sound[start + at] ?? 0) * Math.sin((Math.PI * at) / WINDOW) ** 2;
        real += value * Math.cos((2 * Math.PI * hertz * at) / RATE);
        imaginary += value * Math.sin((2 * Math.PI * hertz * at) / RATE);
      }
      return 10 * Math.log10(real ** 2 + imaginary ** 2 + 1e8);
    });
  }).flat();
}

function likeness(a: Bands, b: Bands): number {
  const mean = (all: Bands) => all.reduce((sum, each) => sum + each, 0) / all.length;
  const [ma, mb] = [mean(a), mean(b)];
  const product = (x: Bands, mx: number, y: Bands, my: number) =>
    x.reduce((sum, each, at) => sum + (each - mx) * ((y[at] ?? 0) - my), 0);
  return product(a, ma, b, mb) / Math.sqrt(product(a, ma, a, ma) * product(b, mb, b, mb));
}

describe('another speed of speech', () => {
  it.skipIf(!isThere('sox'))('has the pitch, the spectrum and the duration that sox gives it', async () => {
    const sound = speech();
    for (const speed of [0.5, 1.25, 3]) {
      const [own, other] = [await ours(sound, speed), soxs(sound, speed)];
      expect(Math.abs(own.length / RATE - SECONDS / speed), `${speed}`).toBeLessThan(0.02);
      expect(Math.abs(pitch(own, RATE) / pitch(other, RATE) - 1), `${speed}`).toBeLessThan(0.04);
      const [here, there, before] = [own, other, sound].map(spectrum) as [Bands, Bands, Bands];
      expect(likeness(here, there), `${speed}`).toBeGreaterThan(0.93);
      expect(likeness(here, before), `${speed}`).toBeGreaterThan(likeness(there, before) - 0.01);
    }
  });

  it('streams: minutes need no more memory than a moment of them', async () => {
    const second = new Uint8Array(speech().slice(0, RATE / 2).buffer);
    // Seconds, but for `made`, which has bytes.
    let [taken, made, mostAhead] = [0, 0, 0];
    async function* pcm() {
      for (let at = 0; at < 3 * 60; at += 1) {
        yield second;
        taken += 1;
      }
    }
    const slow = { ...format, sampleRate: RATE / 2 };
    for await (const piece of atSpeed({ format: slow, bytes: undefined, pcm: pcm() }, 1.3).pcm) {
      made += piece.length;
      mostAhead = Math.max(mostAhead, taken - (made * 1.3) / RATE);
    }
    expect(mostAhead).toBeLessThan(2);
  });
});
