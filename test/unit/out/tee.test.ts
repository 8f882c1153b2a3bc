import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fork } from '../../../src/out/tee.ts';
import { untagged } from '../../../src/sound/pcm.ts';
import { gate } from '../../support/gate.ts';
import { turns } from '../../support/turns.ts';
import { speechFormat } from '../sound/wav-builder.ts';

function soundOf(pieces: number, until: Promise<void> = Promise.resolve()) {
  const state = { read: 0, isLetGo: false };
  async function* pcm() {
    try {
      for (; state.read < pieces; state.read += 1) {
        yield Uint8Array.of(state.read);
        await until;
      }
    } finally {
      state.isLetGo = true;
    }
  }
  return { state, speech: { format: speechFormat, bytes: pieces, pcm: pcm() } };
}

async function read(pcm: AsyncIterable<Uint8Array>, most = Number.POSITIVE_INFINITY): Promise<number[]> {
  const got: number[] = [];
  for await (const [byte = -1] of pcm) {
    got.push(byte);
    if (got.length >= most) break;
  }
  return got;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('one sound for two readers', () => {
  it('is whole for whoever stays, wherever the other leaves', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 15 }),
        async (pieces, most) => {
          const { speech, state } = soundOf(pieces);
          const [stays, leaves] = fork(untagged(speech));
          const both = await Promise.all([read(stays.track.pcm), read(leaves.track.pcm, most)]);
          expect(both).toEqual([numbers(pieces), numbers(Math.min(most, pieces))]);
          expect(state.isLetGo).toBe(true);
        },
      ),
    );
  });

  it('is read no faster than the slower one takes it', async () => {
    const { speech, state } = soundOf(5);
    const [slow, quick] = fork(untagged(speech));
    const quickly = read(quick.track.pcm);
    const slowly = slow.track.pcm[Symbol.asyncIterator]();
    await slowly.next();
    await turns();
    expect(state.read).toBe(0);
    await slow.leave();
    expect(await quickly).toEqual(numbers(5));
  });

  it('is whole for one reader when the other leaves while both wait for a piece', async () => {
    const { opened, open } = gate();
    const { speech } = soundOf(4, opened);
    const [stays, leaves] = fork(untagged(speech));
    const stayed = read(stays.track.pcm);
    const left = read(leaves.track.pcm);
    await turns();
    await leaves.leave();
    open();
    expect(await stayed).toEqual(numbers(4));
    expect((await left).length).toBeLessThanOrEqual(2);
  });

  it('ends for a reader that leaves while it waits for the other one', async () => {
    const { speech } = soundOf(4);
    const [stays, leaves] = fork(untagged(speech));
    const waiting = leaves.track.pcm[Symbol.asyncIterator]().next();
    await turns();
    await leaves.leave();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await read(stays.track.pcm)).toEqual(numbers(4));
  });

  it('lets the sound go when both have left, and nobody has begun to read', async () => {
    const { speech } = soundOf(4);
    const [one, other] = fork(untagged(speech));
    await one.leave();
    await other.leave();
    expect(await read(one.track.pcm)).toEqual([]);
    expect(await speech.pcm.next()).toEqual({ done: true, value: undefined });
  });

  it('breaks off for both where it breaks off', async () => {
    async function* pcm() {
      yield Uint8Array.of(1);
      throw new Error('broken');
    }
    const branches = fork(untagged({ format: speechFormat, bytes: undefined, pcm: pcm() }));
    const ends = await Promise.allSettled(branches.map(({ track }) => read(track.pcm)));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
