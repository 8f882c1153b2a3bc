import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Budget, Prefetch } from '../../../src/run/ahead.ts';
import type { Speech } from '../../../src/sound/pcm.ts';
import { WatchedBody } from '../sound/body.ts';
import { speechFormat } from '../sound/wav-builder.ts';
import { countedSound } from './counted-sound.ts';

const quiet = { signal: new AbortController().signal, onFailure: () => {} };

test('A great many small pieces take a moment, and keep their order.', async () => {
  const taken = { pieces: 0 };
  const prefetch = new Prefetch(Promise.resolve(countedSound(60_000, { taken })), new Budget(1 << 30), quiet);
  const speech = await prefetch.speech;
  while (taken.pieces < 60_000) await sleep(1);
  prefetch.takeTurn();
  let at = 0;
  for await (const piece of speech?.pcm ?? []) {
    if (piece[0] !== (at & 0xff) || piece[1] !== at >> 8) throw new Error(`piece ${at} is another`);
    at += 1;
  }
  expect(at).toBe(60_000);
});

test('What pieces take besides their samples counts as well.', async () => {
  const taken = { pieces: 0 };
  const prefetch = new Prefetch(Promise.resolve(countedSound(60_000, { taken })), new Budget(1 << 20), quiet);
  await prefetch.speech;
  await sleep(100);
  expect(taken.pieces).toBeGreaterThan(1000);
  expect(taken.pieces).toBeLessThan(20_000);
});

test('A part that waits for room is closed when the signal aborts, though its turn never comes.', async () => {
  const controller = new AbortController();
  const pcm = new WatchedBody([new Uint8Array(100), new Uint8Array(100)]);
  const speech: Speech = { format: speechFormat, bytes: undefined, pcm };
  const options = { signal: controller.signal, onFailure: () => {} };
  await new Prefetch(Promise.resolve(speech), new Budget(1), options).speech;
  await sleep(10);
  expect(pcm.returned).toBe(0);
  controller.abort(new Error('over'));
  await sleep(10);
  expect(pcm.returned).toBe(1);
});
