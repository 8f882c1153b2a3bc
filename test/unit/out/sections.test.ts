import { expect, test } from 'vitest';
import { Drops } from '../../../src/kit/drops.ts';
import { AsyncQueue } from '../../../src/kit/queue.ts';
import { type Section, Sections } from '../../../src/out/player.ts';
import { untagged } from '../../../src/sound/pcm.ts';
import { speechFormat } from '../sound/wav-builder.ts';

function sectionsOf() {
  const drops = new Drops();
  const pieces = new AsyncQueue<Uint8Array>();
  const pcm = pieces[Symbol.asyncIterator]();
  const sections = new Sections({ ...untagged({ format: speechFormat, bytes: undefined, pcm }), drops });
  return { drops, pieces, sections };
}

async function heardOf(section: Section | undefined): Promise<number[]> {
  const heard: number[] = [];
  for await (const piece of section?.track.pcm ?? []) heard.push(...piece);
  return heard;
}

test('A section ends at a flush, and the next one begins with the sound that comes then.', async () => {
  const { drops, pieces, sections } = sectionsOf();
  const first = sections.first().track.pcm[Symbol.asyncIterator]();
  pieces.push(Buffer.from([1]));
  expect((await first.next()).value).toEqual(Buffer.from([1]));
  const waiting = first.next();
  drops.now();
  expect((await waiting).done).toBe(true);
  const coming = sections.next();
  pieces.push(drops.flush);
  pieces.push(Buffer.from([2]));
  pieces.end();
  expect(await heardOf(await coming)).toEqual([2]);
  expect(await sections.next()).toBeUndefined();
});

test('Sound that comes late, in front of the flush of the last drop, is lost.', async () => {
  const { drops, pieces, sections } = sectionsOf();
  drops.now();
  pieces.push(Buffer.from([1]));
  pieces.push(drops.flush);
  pieces.push(Buffer.from([2]));
  const old = await sections.next();
  drops.now();
  expect(old?.flushed?.aborted).toBe(true);
  expect(await heardOf(old)).toEqual([]);
  pieces.push(Buffer.from([3]));
  pieces.push(drops.flush);
  pieces.push(Buffer.from([4]));
  pieces.end();
  const next = await sections.next();
  expect(next?.flushed?.aborted).toBe(false);
  expect(await heardOf(next)).toEqual([4]);
});

test('Where nothing new comes after a flush, there is no other section.', async () => {
  const { drops, pieces, sections } = sectionsOf();
  drops.now();
  pieces.push(Buffer.from([1]));
  pieces.end();
  expect(await sections.next()).toBeUndefined();
});
