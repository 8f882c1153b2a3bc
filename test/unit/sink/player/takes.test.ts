import { expect, test, vi } from 'vitest';
import { AsyncQueue } from '../../../../src/async.ts';
import { untagged } from '../../../../src/audio/pcm.ts';
import { Drops } from '../../../../src/drops.ts';
import { Takes } from '../../../../src/sink/player/takes.ts';
import { speechFormat } from '../../audio/wav-builder.ts';

function takesOf(onDrop = () => {}) {
  const drops = new Drops();
  const pieces = new AsyncQueue<Uint8Array>();
  const pcm = pieces[Symbol.asyncIterator]();
  const takes = new Takes({ ...untagged({ format: speechFormat, bytes: undefined, pcm }), drops }, onDrop);
  return { drops, pieces, takes };
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
  pieces.push(Buffer.from([2]));
  pieces.end();
  const heard: Uint8Array[] = [];
  for await (const piece of (await coming)?.track.pcm ?? []) heard.push(piece);
  expect(heard).toEqual([Buffer.from([2])]);
  expect(await takes.next()).toBeUndefined();
});

test('Sound that has come is lost at a drop, though nobody has taken it yet.', async () => {
  const onDrop = vi.fn();
  const { drops, pieces, takes } = takesOf(onDrop);
  drops.now();
  pieces.push(Buffer.from([1]));
  const old = await takes.next();
  drops.now();
  expect(onDrop).toHaveBeenCalledTimes(2);
  expect(old?.dropped?.aborted).toBe(true);
  expect((await old?.track.pcm[Symbol.asyncIterator]().next())?.done).toBe(true);
  pieces.push(Buffer.from([2]));
  const next = await takes.next();
  expect(next?.dropped?.aborted).toBe(false);
  expect((await next?.track.pcm[Symbol.asyncIterator]().next())?.value).toEqual(Buffer.from([2]));
});
