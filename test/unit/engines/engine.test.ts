import { describe, expect, it } from 'vitest';
import type { Style } from '../../../src/engines/engine.ts';
import { buildWorker, PLAIN, samplesOf, speak, startEngine } from '../../support/engine.ts';
import { loudness, meanLoudness } from './loudness.ts';
import { pitch } from './pitch.ts';

const worker = await buildWorker();
const engine = await startEngine({ worker });
const SENTENCE = 'We saw the moon rise over the mountains while the wolves howled.';
const seconds = (samples: Int16Array) => samples.length / 22_050;

describe('the built-in engine', () => {
  it('speaks with another voice for each number, and with the same for both kinds', async () => {
    const spoken = await Promise.all(
      engine.speakers.map(({ no }) => samplesOf(engine, { text: 'Hello.', speaker: no })),
    );
    const bytes = spoken.map((samples) => Buffer.from(samples.buffer).toString('base64'));
    expect(new Set(bytes).size).toBe(5);
    expect(bytes.slice(5)).toEqual(bytes.slice(0, 5));
  });

  it('lasts as long at every rate', async () => {
    const wanted = seconds(await samplesOf(engine, { text: SENTENCE }));
    for (const sampleRate of [8_000, 48_000, 12_345]) {
      const samples = await samplesOf(engine, { text: SENTENCE, sampleRate });
      expect(samples.length / sampleRate).toBeCloseTo(wanted, 3);
    }
  });

  it('begins and ends each segment in silence, so that nothing clicks where they meet', async () => {
    for await (const part of speak(engine, { text: `${SENTENCE} No! Six.`, sampleRate: 44_100 })) {
      expect(Math.max(...part.subarray(0, 1_000).map(Math.abs))).toBeLessThanOrEqual(1);
      expect(Math.max(...part.subarray(-5_000).map(Math.abs))).toBeLessThanOrEqual(1);
    }
  });

  it.each([[SENTENCE], ['hello']])('is as loud with every voice, to 1 dB, for %j', async (text) => {
    const spoken = await Promise.all([1, 2, 3, 4, 5].map((speaker) => samplesOf(engine, { text, speaker })));
    const all = spoken.map(meanLoudness);
    const heard = spoken.map((samples) => loudness(samples, 22_050));
    expect(Math.max(...all) - Math.min(...all)).toBeLessThan(1);
    expect(Math.max(...heard) - Math.min(...heard)).toBeLessThan(1);
  });
});

describe('the style', () => {
  const styled = (changes: Partial<Style>, speaker = 1, text = SENTENCE) =>
    samplesOf(engine, { text, speaker, style: { ...PLAIN, ...changes } });

  it.each([1, 3])('changes the speed of speaker %i', async (speaker) => {
    const [plain = 0, slow = 0, fast = 0] = await Promise.all(
      [1, 0.5, 2].map(async (rate) => seconds(await styled({ rate }, speaker))),
    );
    expect(slow / plain).toBeGreaterThan(1.75);
    expect(slow / plain).toBeLessThan(2.1);
    expect(fast / plain).toBeGreaterThan(0.45);
    expect(fast / plain).toBeLessThan(0.65);
  });

  it('changes the pitch, and not the speed', async () => {
    const plain = await styled({});
    const normal = pitch(plain, 22_050);
    for (const factor of [0.8, 1.25]) {
      const changed = await styled({ pitch: factor });
      const ratio = pitch(changed, 22_050) / normal;
      expect(ratio).toBeGreaterThan(factor * 0.92);
      expect(ratio).toBeLessThan(factor * 1.08);
      expect(seconds(changed) / seconds(plain)).toBeCloseTo(1, 1);
    }
  });

  it('changes the loudness', async () => {
    const [plain = 0, soft = 0] = await Promise.all(
      [1, 0.5].map(async (factor) => loudness(await styled({ loudness: factor }), 22_050)),
    );
    expect(soft - plain).toBeCloseTo(-6, 0);
  });

  it('changes the pauses between sentences', async () => {
    const [none = 0, plain = 0, longer = 0] = await Promise.all(
      [0, 1, 3].map(async (pause) => seconds(await styled({ pause }, 1, 'One. Two. Three.'))),
    );
    expect(longer - plain).toBeCloseTo(3 * 2 * 0.35, 2);
    expect(plain - none).toBeCloseTo(3 * 0.35, 2);
  });
});
