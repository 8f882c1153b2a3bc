import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { GrowingMarkdown } from '../../../src/read/markdown.ts';
import { Segmenter } from '../../../src/text/cut.ts';
import type { Piece } from '../../../src/text/piece.ts';
import type { Rest, Segment } from '../../../src/text/segment.ts';
import { inTurn, whileArriving } from '../../../src/text/stage.ts';
import { randomFrom, SEED } from '../../support/random.ts';
import { answer, tokens } from './answer-of.ts';

const ANSWERS = 100;
/** Milliseconds for which a writer falls silent once. */
const SILENCE_MS = 5000;
/** 0.6 s are promised, and 2 s where an end is in doubt. The bound only tells them from a wait for the next word. */
const BOUND_MS = 3500;

const AFTER = /^(?:[.!?。！？]["*]*|[^\p{L}\p{N}\n]*\n?)/u;

interface Written {
  /** UTF-16 units that were written by then. */
  readonly length: number;
  readonly at: number;
}

/** Writes an answer, with one long silence, and takes what is asked for. */
async function live(text: string, random: () => number) {
  const written: Written[] = [];
  const all = tokens(text, random);
  const silent = Math.floor(random() * all.length);
  async function* writer() {
    let length = 0;
    for (const [at, token] of all.entries()) {
      length += token.text.length;
      written.push({ length, at: performance.now() });
      yield token.text;
      await sleep(at === silent ? SILENCE_MS : token.wait / 8);
    }
  }
  const stage = inTurn<string, Piece, Segment | Rest>(
    new GrowingMarkdown({ code: 'announce', footnotes: 'read' }, ''),
    new Segmenter({ voice: { maxChars: 1000 }, pace: 'sentence' }) as never,
  );
  const asked: { text: string; at: number }[] = [];
  const { signal } = new AbortController();
  for await (const each of whileArriving(writer(), stage, signal, true))
    if (each.kind === 'segment') asked.push({ text: each.text, at: performance.now() });
  return { asked, written };
}

/** @returns how long each sentence was there before it was asked for, in milliseconds */
function delaysOf(text: string, { asked, written }: Awaited<ReturnType<typeof live>>) {
  const delays: { text: string; delay: number }[] = [];
  let from = 0;
  for (const { text: sentence, at } of asked) {
    const word = sentence.match(/[\p{L}\p{N}]+/gu)?.at(-1) ?? '';
    const place = new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'gu');
    place.lastIndex = from;
    // Nobody has written "Code in sh omitted."
    if (word === 'omitted' || !place.test(text)) continue;
    const end = place.lastIndex + (AFTER.exec(text.slice(place.lastIndex))?.[0].length ?? 0);
    from = place.lastIndex;
    const there = written.find(({ length }) => length >= end)?.at ?? at;
    delays.push({ text: sentence, delay: at - there });
  }
  return delays;
}

test('Nothing that is complete waits for what its writer writes next.', async () => {
  const answers = Array.from({ length: ANSWERS }, async (_, number) => {
    const random = randomFrom(SEED * 3000 + number);
    const text = answer(random);
    return delaysOf(text, await live(text, random));
  });
  const delays = (await Promise.all(answers)).flat();
  expect(delays.length).toBeGreaterThan(3 * ANSWERS);
  expect(delays.filter(({ delay }) => delay > BOUND_MS)).toEqual([]);
});
