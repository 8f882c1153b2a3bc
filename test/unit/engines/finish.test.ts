import { describe, expect, it } from 'vitest';
import { finish, level } from '../../../src/engines/finish.ts';

const RATE = 16_000;
const tone = (amplitude: number, frames = RATE) =>
  Float32Array.from(
    { length: frames },
    (_, frame) => amplitude * Math.sin((2 * Math.PI * 200 * frame) / RATE),
  );
const peak = (samples: Float32Array) => Math.max(...samples.map(Math.abs));

function levelled(samples: Float32Array, loudness = 1): Float32Array {
  const copy = samples.slice();
  level(copy, RATE, loudness);
  return copy;
}

describe('the level', () => {
  it.each([0.05, 0.1, 0.5])('of a tone with the amplitude %d becomes -20 dBFS', (amplitude) => {
    expect(peak(levelled(tone(amplitude)))).toBeCloseTo(0.1 * Math.SQRT2, 3);
  });

  it.each([0.01, 0.001])('of a tone with the amplitude %d rises tenfold and no more', (amplitude) => {
    expect(peak(levelled(tone(amplitude)))).toBeCloseTo(10 * amplitude, 5);
  });

  it('is multiplied by the loudness', () => {
    expect(peak(levelled(tone(0.1), 0.5))).toBeCloseTo(0.05 * Math.SQRT2, 3);
    expect(peak(levelled(tone(0.001), 2))).toBeCloseTo(0.02, 5);
  });

  it('leaves peaks above the tone below the ceiling', () => {
    const click = tone(0.05);
    click[RATE / 2] = 1;
    const most = peak(levelled(click, 2));
    expect(most).toBeGreaterThan(0.85);
    expect(most).toBeLessThanOrEqual(0.9);
  });
});

describe('a finished segment', () => {
  const LEAD = 0.03 * RATE;
  const FADE = 0.02 * RATE;
  const PAUSE = 0.1;
  const steady = new Int16Array(RATE).fill(5_000);
  const unused = () => expect.unreachable('the rate stays');
  const finished = (samples: Int16Array) =>
    finish({ samples, sampleRate: RATE }, { sampleRate: RATE, loudness: 1, pause: PAUSE }, unused);

  it('begins and ends in silence of a fixed length', () => {
    const padded = new Int16Array(3 * RATE);
    padded.set(steady, RATE);
    const out = finished(padded);
    // The margins of what the voice sent stay before and after what is heard.
    expect(out.length).toBe(LEAD + FADE + RATE + FADE + PAUSE * RATE);
    expect(out.findIndex((sample) => sample !== 0)).toBe(LEAD + FADE);
    expect(out.findLastIndex((sample) => sample !== 0)).toBe(LEAD + FADE + RATE - 1);
  });

  it('fades in and out over 20 ms where the voice starts or stops at once', () => {
    const out = finished(steady);
    const speech = out.subarray(LEAD, LEAD + RATE);
    const plateau = speech[RATE / 2] ?? 0;
    expect(plateau).toBeGreaterThan(3_000);
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      const frame = part * FADE;
      expect(Math.abs((speech[frame] ?? 0) - part * plateau)).toBeLessThanOrEqual(1);
      expect(speech[RATE - 1 - frame]).toBe(speech[frame]);
    }
  });

  it('fades a segment that is shorter than two fades from both ends', () => {
    const speech = finished(steady.subarray(0, FADE)).subarray(LEAD, LEAD + FADE);
    expect([speech[0], speech[FADE - 1]]).toEqual([0, 0]);
    expect(speech.indexOf(Math.max(...speech))).toBe(FADE / 2 - 1);
  });
});
