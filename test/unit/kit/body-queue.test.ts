import { describe, expect, it } from 'vitest';
import { BodyQueue } from '../../../src/kit/http/stream.ts';

describe('what was queue', () => {
  it('is handed out in order, once', () => {
    const queue = new BodyQueue();
    const pieces = [Buffer.alloc(2000, 1), Buffer.alloc(2000, 2)];
    for (const piece of pieces) queue.add(piece);
    expect(queue.isEmpty).toBe(false);
    expect(queue.take()).toEqual(pieces);
    expect(queue.isEmpty).toBe(true);
    expect(queue.take()).toEqual([]);
  });

  it('is put together where it came in small pieces', () => {
    const queue = new BodyQueue();
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251));
    for (let at = 0; at < bytes.length; at++) queue.add(bytes.subarray(at, at + 1));
    queue.add(Buffer.alloc(2000, 1));
    queue.add(Buffer.alloc(10, 2));
    const pieces = queue.take();
    expect(pieces.length).toBeLessThan(8);
    const all = [bytes, Buffer.alloc(2000, 1), Buffer.alloc(10, 2)];
    expect(Buffer.concat(pieces).equals(Buffer.concat(all))).toBe(true);
    queue.add(Buffer.alloc(1, 3));
    queue.add(Buffer.alloc(1, 4));
    // What was handed out is not written to any more.
    expect(Buffer.concat(pieces).equals(Buffer.concat(all))).toBe(true);
    expect(Buffer.concat(queue.take())).toEqual(Buffer.from([3, 4]));
  });

  it.each([
    ['large pieces', 65_536, 8],
    ['single bytes', 1, 1 << 19],
  ])('is enough at some time: %s', (_, bytes, most) => {
    const queue = new BodyQueue();
    let pieces = 0;
    while (!queue.isFull) {
      queue.add(Buffer.alloc(bytes));
      pieces += 1;
    }
    expect(pieces).toBeGreaterThan(most / 2);
    expect(pieces).toBeLessThanOrEqual(most);
    queue.take();
    expect(queue.isFull).toBe(false);
  });
});
