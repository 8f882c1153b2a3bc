import { expect } from 'vitest';

/** Compares buffers as a whole. Vitest compares them byte by byte, which takes a second per megabyte. */
function areBytesEqual(one: unknown, other: unknown): boolean | undefined {
  if (Buffer.isBuffer(one) && Buffer.isBuffer(other)) return one.equals(other);
  return undefined;
}

expect.addEqualityTesters([areBytesEqual]);
