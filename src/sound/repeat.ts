/** What a sound says twice in a row, where another one says it once. */
import { type Alignment, distanceBetween, type Features } from './align.ts';

/** Seconds that are looked at in front of what may be said twice, and behind it. */
const AROUND = 0.3;

/** Seconds of what is said twice. In less, any two sounds may be alike. */
const SHORTEST = 0.12;

/** Words that are said twice together. */
const MOST_WORDS = 3;

/** What a step along one of the sounds alone costs; one along both costs 2. */
const ALONE = 1.3;

interface Word {
  readonly text: string;
  /** Seconds. */
  readonly start: number;
  readonly end: number;
}

export interface Repeat {
  /** The words that are said twice. */
  readonly text: string;
  /** By how much the sound is nearer to the words twice than to the words once, as a share of what the words take: below 0 for once. */
  readonly gain: number;
}

/** @returns the words that are the likeliest to be said twice */
export function repeatIn(
  once: Features,
  sound: Features,
  alignment: Pick<Alignment, 'at' | 'usual'>,
  words: readonly Word[],
): Repeat | undefined {
  let best: Repeat | undefined;
  for (const first of words.keys())
    for (let count = 1; count <= MOST_WORDS; count += 1) {
      const said = words.slice(first, first + count);
      const gain = gainOf(said, once, sound, alignment);
      if (gain > (best?.gain ?? -Infinity)) best = { text: said.map(({ text }) => text).join(' '), gain };
    }
  return best;
}

function gainOf(
  said: readonly Word[],
  once: Features,
  sound: Features,
  { at, usual }: Pick<Alignment, 'at' | 'usual'>,
): number {
  const { step, count } = once;
  const [start, end] = [said[0]?.start ?? 0, said.at(-1)?.end ?? 0];
  if (end - start < SHORTEST) return -Infinity;
  const frame = (seconds: number, most = count) => Math.max(0, Math.min(most, Math.round(seconds / step)));
  const [from, begin, stop, to] = [frame(start - AROUND), frame(start), frame(end), frame(end + AROUND)];
  const heard = rangeOf(frame(at(from * step), sound.count), frame(at(to * step), sound.count));
  const twice = [...rangeOf(from, stop), ...rangeOf(begin, to)];
  const nearer = costOf(once, rangeOf(from, to), sound, heard) - costOf(once, twice, sound, heard);
  return nearer / ((stop - begin) * usual);
}

function rangeOf(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
}

/** What the cheapest path through these frames of both costs. */
function costOf(one: Features, rows: readonly number[], other: Features, columns: readonly number[]): number {
  let above = new Float64Array(columns.length + 1).fill(Infinity);
  let sums = new Float64Array(columns.length + 1).fill(Infinity);
  above[0] = 0;
  for (const row of rows) {
    for (const [place, column] of columns.entries()) {
      const cost = distanceBetween(one, row, other, column);
      sums[place + 1] = Math.min(
        (above[place] ?? 0) + 2 * cost,
        (above[place + 1] ?? 0) + ALONE * cost,
        (sums[place] ?? 0) + ALONE * cost,
      );
    }
    [above, sums] = [sums, above];
    sums[0] = Infinity;
  }
  return above[columns.length] ?? 0;
}
