import { expect, test } from 'vitest';
import { Drops } from '../../../src/kit/host.ts';
import { AsyncQueue } from '../../../src/kit/wait.ts';
import { type Take, Takes } from '../../../src/out/player.ts';
import { untagged } from '../../../src/sound/pcm.ts';
import { speechFormat } from '../sound/wav-builder.ts';

function takesOf() {
  const drops = new Drops();
  const pieces = new AsyncQueue<Uint8Array>();
  const pcm = pieces[Symbol.asyncIterator]();
  const takes = new Takes({ ...untagged({ format: speechFormat, bytes: undefined, pcm }), drops });
  return { drops, pieces, takes };
}

async function heardOf(take: Take | undefined): Promise<number[]> {
  const heard: number[] = [];
  for await (const piece of take?.track.pcm ?? []) heard.push(...piece);
  return heard;
}

test('A take ends at a drop, and the next one begins with the sound that comes then.', async () => {
  const { drops, pieces, takes } = takesOf();
  const first = takes.first().track.pcm[Symbol.asyncIterator]();
  pieces.push(Buffer.from([1]));
  expect((await first.next()).value).toEqual(Buffer.from([1]));
  const waiting = first.next();
  drops.now();
  expect((await waiting).done).toBe(true);
  const coming = takes.next();
  pieces.push(drops.flush);
  pieces.push(Buffer.from([2]));
  pieces.end();
  expect(await heardOf(await coming)).toEqual([2]);
  expect(await takes.next()).toBeUndefined();
});

test('Sound that comes late, in front of the flush of the last drop, is lost.', async () => {
  const { drops, pieces, takes } = takesOf();
  drops.now();
  pieces.push(Buffer.from([1]));
  pieces.push(drops.flush);
  pieces.push(Buffer.from([2]));
  const old = await takes.next();
  drops.now();
  expect(old?.dropped?.aborted).toBe(true);
  expect(await heardOf(old)).toEqual([]);
  pieces.push(Buffer.from([3]));
  pieces.push(drops.flush);
  pieces.push(Buffer.from([4]));
  pieces.end();
  const next = await takes.next();
  expect(next?.dropped?.aborted).toBe(false);
  expect(await heardOf(next)).toEqual([4]);
});

test('Where nothing new comes after a drop, there is no other take.', async () => {
  const { drops, pieces, takes } = takesOf();
  drops.now();
  pieces.push(Buffer.from([1]));
  pieces.end();
  expect(await takes.next()).toBeUndefined();
});
