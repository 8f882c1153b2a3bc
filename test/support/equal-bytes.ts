import { expect } from 'vitest';

/** Vitest compares bytes one by one, which takes a second for a megabyte. */
function areBytesEqual(one: unknown, other: unknown): boolean | undefined {
  if (Buffer.isBuffer(one) && Buffer.isBuffer(other)) return one.equals(other);
  return undefined;
}

expect.addEqualityTesters([areBytesEqual]);
