import { hash } from 'node:crypto';
import { usageError } from '../error.ts';
import { visible } from '../printable.ts';
import type { NumberList } from './record-file.ts';

export interface Shard {
  /** Shards count from 1. */
  readonly index: number;
  readonly count: number;
}

const MOST_SHARDS = 100_000;

/** @throws TtsError (usage), also for an empty text: an unset variable must not make each job do the whole table */
export function parseShard(option: string): Shard {
  const [, index, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(option.trim()) ?? [];
  const shard = { index: Number(index), count: Number(count) };
  if (shard.index >= 1 && shard.index <= shard.count && shard.count <= MOST_SHARDS) return shard;
  throw usageError(
    `--shard: "${visible(option)}" is not i/n`,
    'give the number of this job, from 1, and how many there are: --shard 3/8; is a variable empty?',
  );
}

/** The order is the first 6 bytes of a SHA-256, so that it is the same on every machine. */
export function orderOf(id: string): number {
  return Number.parseInt(hash('sha256', id).slice(0, 12), 16);
}

/** Deals the rows in turn by {@link orderOf}: shards differ by one row at most, whatever the order of the table. */
export function dealShard(orders: NumberList, { index, count }: Shard): (order: number) => boolean {
  const sorted = new Float64Array(orders.length).map((_, row) => orders.at(row)).sort();
  return (order) => rankOf(order, sorted) % count === index - 1;
}

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
