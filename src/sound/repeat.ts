/** Finds words that a sound says twice in a row where another sound says them once. */
import { ALONG_BOTH, ALONG_ONE, type Alignment, distance, type Features } from './align.ts';

/** Seconds compared before and after the words in question. */
const AROUND = 0.3;

/** Seconds that the words must last: shorter sounds are easily alike. */
const SHORTEST = 0.12;

/** Words in one repeat. */
const MOST_WORDS = 3;

interface Word {
  readonly text: string;
  /** Seconds. */
  readonly start: number;
  readonly end: number;
}

export interface Repeat {
  /** The repeated words. */
  readonly text: string;
  /** How much better the sound fits the words said twice than once, relative to their length. Below 0, once fits better. */
  readonly gain: number;
}

/** @returns the words that are most likely repeated */
export function repeatIn(
  once: Features,
  sound: Features,
  alignment: Pick<Alignment, 'at' | 'medianDistance'>,
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
  { at, medianDistance }: Pick<Alignment, 'at' | 'medianDistance'>,
): number {
  const { step, count } = once;
  const [start, end] = [said[0]?.start ?? 0, said.at(-1)?.end ?? 0];
  if (end - start < SHORTEST) return -Infinity;
  const frame = (seconds: number, most = count) => Math.max(0, Math.min(most, Math.round(seconds / step)));
  const [from, begin, stop, to] = [frame(start - AROUND), frame(start), frame(end), frame(end + AROUND)];
  const heard = rangeOf(frame(at(from * step), sound.count), frame(at(to * step), sound.count));
  const twice = [...rangeOf(from, stop), ...rangeOf(begin, to)];
  const nearer = costOf(once, rangeOf(from, to), sound, heard) - costOf(once, twice, sound, heard);
  return nearer / ((stop - begin) * medianDistance);
}

function rangeOf(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
}

/** Returns the cost of the cheapest path through these frames of both sounds. */
function costOf(one: Features, rows: readonly number[], other: Features, columns: readonly number[]): number {
  let above = new Float64Array(columns.length + 1).fill(Infinity);
  let sums = new Float64Array(columns.length + 1).fill(Infinity);
  above[0] = 0;
  for (const row of rows) {
    for (const [place, column] of columns.entries()) {
      const cost = distance(one.values, row, other.values, column);
      sums[place + 1] = Math.min(
        (above[place] ?? 0) + ALONG_BOTH * cost,
        (above[place + 1] ?? 0) + ALONG_ONE * cost,
        (sums[place] ?? 0) + ALONG_ONE * cost,
      );
    }
    [above, sums] = [sums, above];
    sums[0] = Infinity;
  }
  return above[columns.length] ?? 0;
}
