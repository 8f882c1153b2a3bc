import { hash } from 'node:crypto';
import { usageError } from '../error.ts';
import { visible } from '../printable.ts';
import type { NumberList } from './record-file.ts';

/** One of several jobs that share a table. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

const MOST_SHARDS = 100_000;

/**
 * Reads `--shard 3/8`.
 * @throws TtsError (usage), also for an empty text: a variable that is not set must not do the whole table in every job
 */
export function parseShard(option: string): Shard {
  const [, index, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(option.trim()) ?? [];
  const shard = { index: Number(index), count: Number(count) };
  if (shard.index >= 1 && shard.index <= shard.count && shard.count <= MOST_SHARDS) return shard;
  throw usageError(
    `--shard: "${visible(option)}" is not i/n`,
    'give the number of this job, from 1, and how many there are: --shard 3/8; is a variable empty?',
  );
}

/** The first 6 bytes of SHA-256 of an id, as a number: it orders rows in the same way on every machine. */
export function orderOf(id: string): number {
  return Number.parseInt(hash('sha256', id).slice(0, 12), 16);
}

/**
 * Deals rows round robin in the order of their hashes: shards differ by one row at most, and the order of the table does
 * not matter.
 * @param orders of all rows of the table, see {@link orderOf}
 * @returns whether a row of a given order belongs to the shard
 */
export function dealShard(orders: NumberList, { index, count }: Shard): (order: number) => boolean {
  const sorted = new Float64Array(orders.length).map((_, row) => orders.at(row)).sort();
  return (order) => rankOf(order, sorted) % count === index - 1;
}

/** How many numbers of a sorted list are smaller. */
function rankOf(value: number, sorted: Float64Array): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
