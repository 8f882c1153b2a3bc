import { once } from 'node:events';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Drops } from '../../../src/kit/drops.ts';
import { AsyncQueue } from '../../../src/kit/queue.ts';
import { PlaybackClock, type Section, Sections } from '../../../src/out/player.ts';
import { inShortPieces, untagged } from '../../../src/sound/pcm.ts';
import { speechFormat } from '../sound/wav-builder.ts';

/** Its second has 200,000 bytes. */
const FORMAT = { encoding: 'integer', sampleRate: 100_000, channels: 1, bitsPerSample: 16 } as const;

async function* oneOf(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
}

test('A long piece of sound is heard while a player takes it, not only when it has taken all of it.', async () => {
  const sound = Buffer.alloc(120_001, 'sound');
  const heard: number[] = [];
  const taken: Buffer[] = [];
  const player = new Writable({
    write(piece, _encoding, done) {
      taken.push(piece);
      setTimeout(() => {
        heard.push(hearing.played);
        done();
      }, piece.length / 200);
    },
  });
  const hearing = new PlaybackClock(() => player.writableLength);
  const track = hearing.of(
    untagged({ format: FORMAT, bytes: undefined, pcm: inShortPieces(oneOf(sound), FORMAT) }),
  );
  for await (const piece of track.pcm) if (!player.write(piece)) await once(player, 'drain');
  player.end();
  await once(player, 'finish');
  expect(Buffer.concat(taken)).toEqual(sound);
  expect(heard.filter((bytes) => bytes > 0 && bytes < sound.length).length).toBeGreaterThan(2);
});

test('A player is idle some time after its last sound, and not before its first.', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const hearing = new PlaybackClock();
  const idle: number[] = [];
  const pass = (milliseconds: number) => {
    vi.advanceTimersByTime(milliseconds);
    idle.push(hearing.idle);
  };
  pass(1000);
  hearing.give(20_000, FORMAT);
  pass(50);
  pass(550);
  pass(250);
  hearing.give(20_000, FORMAT);
  pass(100);
  pass(520);
  expect(idle).toEqual([0, 0, 0, 0.25, 0, 0.02]);
});

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
