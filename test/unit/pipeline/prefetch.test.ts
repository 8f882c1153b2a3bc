import { expect, test } from 'vitest';
import type { Speech } from '../../../src/audio/pcm.ts';
import { Budget } from '../../../src/pipeline/budget.ts';
import { Prefetch } from '../../../src/pipeline/prefetch.ts';

const FORMAT = { encoding: 'integer', sampleRate: 8000, channels: 1, bitsPerSample: 16 } as const;

/** A sound in pieces of one frame, counted as they are taken. */
function drops(pieces: number, taken: { pieces: number }): Promise<Speech> {
  async function* pcm() {
    for (let piece = 0; piece < pieces; piece++) {
      taken.pieces += 1;
      yield Uint8Array.of(piece & 0xff, piece >> 8);
    }
  }
  return Promise.resolve({ format: FORMAT, bytes: undefined, pcm: pcm() });
}

test('A great many small pieces take a moment, and keep their order.', async () => {
  const taken = { pieces: 0 };
  const begun = performance.now();
  const prefetch = new Prefetch(drops(60_000, taken), new Budget(1 << 30), () => {});
  const speech = await prefetch.speech;
  while (taken.pieces < 60_000) await new Promise((resolve) => setTimeout(resolve, 1));
  prefetch.takeTurn();
  let at = 0;
  for await (const piece of speech?.pcm ?? []) {
    if (piece[0] !== (at & 0xff) || piece[1] !== at >> 8) throw new Error(`piece ${at} is another`);
    at += 1;
  }
  expect(at).toBe(60_000);
  expect(performance.now() - begun).toBeLessThan(5000);
});

test('What pieces take beside their samples counts as well.', async () => {
  const taken = { pieces: 0 };
  const prefetch = new Prefetch(drops(60_000, taken), new Budget(1 << 20), () => {});
  await prefetch.speech;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(taken.pieces).toBeGreaterThan(1000);
  expect(taken.pieces).toBeLessThan(20_000);
});
