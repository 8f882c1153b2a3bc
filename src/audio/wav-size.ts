/** Some writers subtract a header from their placeholder, or round it down to whole frames or blocks of a file system. */
const SLACK = 0x1_0000;

/**
 * The size of a data chunk where it says something, and `undefined` where it is what a writer puts there that does
 * not know the end yet: nothing, the largest signed (sox: 0x7FFFF000) or unsigned (ffmpeg: 0xFFFFFFFF) number of 32
 * bits or somewhat less, or two thousand million. To take such a number for a size would turn a complete stream into a
 * broken one; to take a size for a placeholder only costs one check out of two, since HTTP marks the end as well.
 */
export function realSize(size: number): number | undefined {
  const nearly = (limit: number) => size > limit - SLACK && size <= limit;
  if (size === 0 || nearly(2 ** 31) || nearly(2 ** 32) || nearly(2_000_000_000)) return undefined;
  return size;
}

/**
 * The same for the 64 bits of a `ds64` chunk (EBU Tech 3306), which are there for sizes around and above 2^32.
 * What no double can count exactly is a placeholder.
 */
export function realSize64(size: bigint): number | undefined {
  return size > 0n && size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : undefined;
}
