import { describe, expect, it } from 'vitest';
import { join } from '../../../src/audio/join.ts';
import type { PcmFormat, Speech } from '../../../src/audio/pcm.ts';
import { ExitCode } from '../../../src/error.ts';
import { collect, WatchedBody } from './body.ts';
import { sound, speechFormat } from './wav-builder.ts';

function part(pieces: Iterable<Uint8Array>, format: PcmFormat = speechFormat) {
  const pcm = new WatchedBody(pieces);
  return { format, bytes: 1000, pcm } satisfies Speech;
}

/** Parts that say how many of them were asked for, and whether they were let go. */
function watched(parts: readonly Speech[]) {
  const seen = { asked: 0, released: false };
  async function* all() {
    try {
      for (const each of parts) {
        seen.asked += 1;
        yield each;
      }
    } finally {
      seen.released = true;
    }
  }
  return { parts: all(), seen };
}

describe('join', () => {
  it('gives the samples of all parts in order', async () => {
    const pcm = sound(3000);
    const { parts, seen } = watched(
      [0, 1000, 2000].map((at) => part([pcm.subarray(at, at + 500), pcm.subarray(at + 500, at + 1000)])),
    );
    const speech = await join(parts);
    expect([speech.format, speech.bytes]).toEqual([speechFormat, undefined]);
    expect((await collect(speech.pcm)).equals(pcm)).toBe(true);
    expect(seen).toEqual({ asked: 3, released: true });
  });

  it.each([
    [() => true, 1000],
    [() => false, undefined],
    [undefined, undefined],
  ])(
    'knows the size of the whole only where the first part is the only one (%#)',
    async (isSingle, bytes) => {
      const speech = await join(watched([part([])]).parts, isSingle ? { isSingle } : {});
      expect(speech.bytes).toBe(bytes);
    },
  );

  it('asks for the next part only when the one before it has ended', async () => {
    const { parts, seen } = watched([part([sound(2), sound(2)]), part([sound(2)])]);
    const pcm = (await join(parts)).pcm[Symbol.asyncIterator]();
    await pcm.next();
    await pcm.next();
    expect(seen.asked).toBe(1);
    await pcm.next();
    expect(seen.asked).toBe(2);
  });

  it('refuses a part in another format, and names both', async () => {
    const other = part([sound(4)], { ...speechFormat, sampleRate: 24_000 });
    const { parts, seen } = watched([part([sound(4)]), other, part([sound(4)])]);
    await expect(collect((await join(parts)).pcm)).rejects.toMatchObject({
      name: 'TtsError',
      exitCode: ExitCode.service,
      message:
        'part 2 of the speech came as 24000 Hz, mono, 16-bit integer, the first as 22050 Hz, mono, 16-bit integer',
      hint: expect.stringContaining('--sample-rate'),
    });
    expect([seen, other.pcm.returned]).toEqual([{ asked: 2, released: true }, 1]);
  });

  it.each([
    [{ sampleRate: 8000 }, 'set --sample-rate'],
    [{ channels: 2 }, 'one number of channels'],
    [{ channels: 2, sampleRate: 8000 }, 'one number of channels'],
    [{ bitsPerSample: 8 }, 'one kind of samples'],
    [{ bitsPerSample: 32, encoding: 'float' }, 'one kind of samples'],
  ] as const)('has a hint that helps against the difference: %o', async (difference, hint) => {
    const { parts } = watched([part([]), part([], { ...speechFormat, ...difference })]);
    await expect(collect((await join(parts)).pcm)).rejects.toMatchObject({
      hint: expect.stringContaining(hint),
    });
  });

  it('passes on what goes wrong in a part, and lets go of the others', async () => {
    const broken = new Error('connection reset');
    const failing: Speech = {
      ...part([]),
      pcm: (async function* () {
        yield sound(2);
        throw broken;
      })(),
    };
    const { parts, seen } = watched([failing, part([])]);
    await expect(collect((await join(parts)).pcm)).rejects.toBe(broken);
    expect(seen).toEqual({ asked: 1, released: true });
  });

  it('lets go of everything when its reader leaves', async () => {
    const first = part([sound(2), sound(2)]);
    const { parts, seen } = watched([first, part([])]);
    for await (const _ of (await join(parts)).pcm) break;
    expect([seen, first.pcm.returned]).toEqual([{ asked: 1, released: true }, 1]);
  });

  it('lets go of everything when nobody began to read', async () => {
    const first = part([sound(2)]);
    const { parts, seen } = watched([first]);
    await (await join(parts)).pcm[Symbol.asyncIterator]().return?.();
    expect([seen, first.pcm.returned]).toEqual([{ asked: 1, released: true }, 1]);
  });
});
