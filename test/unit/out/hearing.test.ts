import { once } from 'node:events';
import { Writable } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Hearing } from '../../../src/out/player.ts';
import { inShortPieces, untagged } from '../../../src/sound/pcm.ts';

/** Its second has 200,000 bytes. */
const FORMAT = { encoding: 'integer', sampleRate: 100_000, channels: 1, bitsPerSample: 16 } as const;

async function* oneOf(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
}

it('A long piece of sound is heard while a player takes it, not only when it has taken all of it.', async () => {
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
  const hearing = new Hearing(() => player.writableLength);
  const track = hearing.of(
    untagged({ format: FORMAT, bytes: undefined, pcm: inShortPieces(oneOf(sound), FORMAT) }),
  );
  for await (const piece of track.pcm) if (!player.write(piece)) await once(player, 'drain');
  player.end();
  await once(player, 'finish');
  expect(Buffer.concat(taken)).toEqual(sound);
  expect(heard.filter((bytes) => bytes > 0 && bytes < sound.length).length).toBeGreaterThan(2);
});

it('A player is idle some time after its last sound, and not before its first.', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const hearing = new Hearing();
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
