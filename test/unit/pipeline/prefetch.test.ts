import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Budget, Prefetch } from '../../../src/speech/prefetch.ts';
import { countedSound } from './counted-sound.ts';

test('A great many small pieces take a moment, and keep their order.', async () => {
  const taken = { pieces: 0 };
  const begun = performance.now();
  const prefetch = new Prefetch(
    Promise.resolve(countedSound(60_000, { taken })),
    new Budget(1 << 30),
    () => {},
  );
  const speech = await prefetch.speech;
  while (taken.pieces < 60_000) await sleep(1);
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
  const prefetch = new Prefetch(
    Promise.resolve(countedSound(60_000, { taken })),
    new Budget(1 << 20),
    () => {},
  );
  await prefetch.speech;
  await sleep(100);
  expect(taken.pieces).toBeGreaterThan(1000);
  expect(taken.pieces).toBeLessThan(20_000);
});
