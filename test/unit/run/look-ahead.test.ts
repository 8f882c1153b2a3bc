import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Drops } from '../../../src/kit/drops.ts';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { ByteBudget } from '../../../src/kit/queue.ts';
import { aborted } from '../../../src/kit/wait.ts';
import { LookAhead, type Part, Prefetch } from '../../../src/run/ahead.ts';
import type { Speech } from '../../../src/sound/pcm.ts';
import type { Segment } from '../../../src/text/segment.ts';
import { turns } from '../../support/turns.ts';
import { WatchedBody } from '../sound/body.ts';
import { speechFormat } from '../sound/wav-builder.ts';
import { segmentOf } from './segment-of.ts';

/** A sound of this many pieces, each of which tells its number in its first two bytes; they are counted as they are taken. */
function countedSound(pieces: number, { bytes = 2, taken = { pieces: 0 } } = {}): Speech {
  async function* pcm() {
    for (let piece = 0; piece < pieces; piece++) {
      taken.pieces += 1;
      const sound = Buffer.alloc(bytes);
      sound.writeUInt16LE(piece);
      yield sound;
    }
  }
  return { format: speechFormat, bytes: undefined, pcm: pcm() };
}

async function* segments(count: number, words: string): AsyncGenerator<Segment> {
  for (let index = 0; index < count; index++) yield segmentOf(`${words} ${index}`, index, 2 * index + 1);
}

interface Setup {
  readonly count?: number;
  /** What each segment begins with. */
  readonly words?: string;
  readonly window?: number;
  readonly budgetBytes?: number;
  readonly signal?: AbortSignal;
  readonly drops?: Drops;
}

function look(
  synthesize: (segment: Segment, signal: AbortSignal) => Promise<Speech | undefined>,
  setup: Setup,
) {
  const { count = 20, words = 'number', window = 4, budgetBytes = 1 << 20 } = setup;
  const { signal = new AbortController().signal, drops } = setup;
  const about = { segments: () => segments(count, words), onSkipped: () => {} };
  return new LookAhead({ ...about, synthesize, window, budgetBytes, signal, drops });
}

async function bytesOf({ speech }: Part): Promise<number> {
  let bytes = 0;
  for await (const piece of speech?.pcm ?? []) bytes += piece.length;
  return bytes;
}

test('Parts come in the order of the text, however long each of them takes.', async () => {
  const ahead = look(async ({ index }) => {
    await sleep((index * 7) % 20);
    return countedSound(index + 1);
  }, {});
  const heard: [number, number][] = [];
  for (let part = await ahead.next(); part; part = await ahead.next())
    heard.push([part.segment.index, await bytesOf(part)]);
  expect(heard).toEqual(Array.from({ length: 20 }, (_, index) => [index, 2 * (index + 1)]));
});

test('No more parts are begun than the window has room for, and no more is kept than the budget allows.', async () => {
  const taken = { pieces: 0 };
  let begun = 0;
  const ahead = look(
    async () => {
      begun += 1;
      return countedSound(1000, { bytes: 1000, taken });
    },
    { budgetBytes: 50_000 },
  );
  const first = await ahead.next();
  await turns();
  expect(begun).toBe(4);
  // The part that is heard may hold a mebibyte besides the budget, and each of the others one piece beyond it.
  expect(taken.pieces).toBeLessThanOrEqual(1000 + 50 + 4);
  expect(await bytesOf(first as Part)).toBe(1_000_000);
});

test('A part that breaks off after the one that is heard keeps others from being begun at once.', async () => {
  const begun: number[] = [];
  const ahead = look(
    async ({ index }) => {
      begun.push(index);
      if (index !== 2) return countedSound(2);
      async function* pcm() {
        yield new Uint8Array(2);
        throw new TtsError('broken off', { exitCode: ExitCode.service });
      }
      return { format: speechFormat, bytes: undefined, pcm: pcm() };
    },
    { window: 4 },
  );
  for (const index of [0, 1]) {
    const part = await ahead.next();
    expect(part?.segment.index).toBe(index);
    await turns();
    await bytesOf(part as Part);
  }
  await expect(ahead.next().then((part) => bytesOf(part as Part))).rejects.toThrow('broken off');
  expect(begun).toEqual([0, 1, 2, 3]);
});

test('Parts come after a drop, also where a part that was asked for before it gets its sound after it.', async () => {
  const drops = new Drops();
  const ahead = look(
    async ({ index }, signal) => {
      if (index > 0) return countedSound(2);
      await aborted(signal);
      return countedSound(2);
    },
    { window: 1, drops },
  );
  const part = ahead.next();
  await turns();
  drops.now();
  expect((await part)?.segment.index).toBe(1);
  await turns();
  expect((await ahead.next())?.segment.index).toBe(2);
});

test('A part that fails is told in its turn, with the line that is missing, and keeps others from being begun.', async () => {
  let begun = 0;
  const ahead = look(async ({ index }) => {
    begun += 1;
    if (index === 3) throw new TtsError('no', { exitCode: ExitCode.quota });
    return countedSound(1);
  }, {});
  const heard: number[] = [];
  const all = async () => {
    for (let part = await ahead.next(); part; part = await ahead.next())
      heard.push(part.segment.index, await bytesOf(part));
  };
  await expect(all()).rejects.toMatchObject({
    message: 'no; the text is missing from line 7 on, "number 3"',
    exitCode: ExitCode.quota,
  });
  expect(heard).toEqual([0, 2, 1, 2, 2, 2]);
  expect(begun).toBe(4);
});

test('The signal ends all that is under way.', async () => {
  const controller = new AbortController();
  const aborted: number[] = [];
  const ahead = look(
    async ({ index }, signal) => {
      signal.addEventListener('abort', () => aborted.push(index));
      return countedSound(1);
    },
    { signal: controller.signal },
  );
  await ahead.next();
  await turns();
  controller.abort();
  expect(aborted).toEqual([0, 1, 2, 3]);
});

const quiet = { signal: new AbortController().signal, onFailure: () => {} };

test('A great many small pieces take a moment, and keep their order.', async () => {
  const taken = { pieces: 0 };
  const prefetch = new Prefetch(
    Promise.resolve(countedSound(60_000, { taken })),
    new ByteBudget(1 << 30),
    quiet,
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
});

test('What pieces take besides their samples counts as well.', async () => {
  const taken = { pieces: 0 };
  const prefetch = new Prefetch(
    Promise.resolve(countedSound(60_000, { taken })),
    new ByteBudget(1 << 20),
    quiet,
  );
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
  await new Prefetch(Promise.resolve(speech), new ByteBudget(1), options).speech;
  await sleep(10);
  expect(pcm.returned).toBe(0);
  controller.abort(new Error('over'));
  await sleep(10);
  expect(pcm.returned).toBe(1);
});
