import { describe, expect, it } from 'vitest';
import { dealShard, parseShard } from '../../../src/batch/plan.ts';

function shardsOf(ids: readonly string[], count: number): string[][] {
  const rows = ids.map((id) => ({ id }));
  return Array.from({ length: count }, (_, at) =>
    dealShard(rows, { index: at + 1, count }).map(({ id }) => id),
  );
}

const ids = Array.from({ length: 650 }, (_, at) => `prompt-${at}`);

describe('shards', () => {
  it.each(['', '/', '0/8', '9/8', '3', '1/0', '-1/8', '1.5/8', 'a/b', '1/8/2', '3/'])(
    'refuse %j',
    (option) => {
      expect(() => parseShard(option)).toThrow('is not i/n');
    },
  );

  it('are counted from 1', () => {
    expect(parseShard('3/8')).toEqual({ index: 3, count: 8 });
    expect(parseShard('8/8')).toEqual({ index: 8, count: 8 });
  });

  it('hold every row once and differ by one row at most', () => {
    const shards = shardsOf(ids, 8);
    expect(shards.flat().sort()).toEqual([...ids].sort());
    expect(new Set(shards.map((shard) => shard.length))).toEqual(new Set([81, 82]));
  });

  it('do not hang on the order of the table', () => {
    const sorted = (shards: string[][]) => shards.map((shard) => shard.sort());
    expect(sorted(shardsOf([...ids].reverse(), 8))).toEqual(sorted(shardsOf(ids, 8)));
  });
});
