import { expect, test } from 'vitest';
import { AsyncQueue } from '../../../../src/async.ts';
import { untagged } from '../../../../src/audio/pcm.ts';
import { Drops } from '../../../../src/drops.ts';
import { Takes } from '../../../../src/sink/player/takes.ts';
import { speechFormat } from '../../audio/wav-builder.ts';

test('A take ends at a drop, and the next one begins with the sound that comes then.', async () => {
  const drops = new Drops();
  const pieces = new AsyncQueue<Uint8Array>();
  const pcm = pieces[Symbol.asyncIterator]();
  const takes = new Takes({ ...untagged({ format: speechFormat, bytes: undefined, pcm }), drops });
  const first = takes.first().pcm[Symbol.asyncIterator]();
  pieces.push(Buffer.from([1]));
  expect((await first.next()).value).toEqual(Buffer.from([1]));
  const waiting = first.next();
  drops.now();
  expect((await waiting).done).toBe(true);
  const coming = takes.next();
  pieces.push(Buffer.from([2]));
  pieces.end();
  const heard: Uint8Array[] = [];
  for await (const piece of (await coming)?.pcm ?? []) heard.push(piece);
  expect(heard).toEqual([Buffer.from([2])]);
  expect(await takes.next()).toBeUndefined();
});
