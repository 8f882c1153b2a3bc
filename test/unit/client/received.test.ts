import { describe, expect, it } from 'vitest';
import { Received } from '../../../src/client/response-stream.ts';

describe('what was received', () => {
  it('is handed out in order, once', () => {
    const received = new Received();
    const pieces = [Buffer.alloc(2000, 1), Buffer.alloc(2000, 2)];
    for (const piece of pieces) received.add(piece);
    expect(received.isEmpty).toBe(false);
    expect(received.take()).toEqual(pieces);
    expect(received.isEmpty).toBe(true);
    expect(received.take()).toEqual([]);
  });

  it('is put together where it came in small pieces', () => {
    const received = new Received();
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251));
    for (let at = 0; at < bytes.length; at++) received.add(bytes.subarray(at, at + 1));
    received.add(Buffer.alloc(2000, 1));
    received.add(Buffer.alloc(10, 2));
    const pieces = received.take();
    expect(pieces.length).toBeLessThan(8);
    const all = [bytes, Buffer.alloc(2000, 1), Buffer.alloc(10, 2)];
    expect(Buffer.concat(pieces).equals(Buffer.concat(all))).toBe(true);
    received.add(Buffer.alloc(1, 3));
    received.add(Buffer.alloc(1, 4));
    // What was handed out is not written to any more.
    expect(Buffer.concat(pieces).equals(Buffer.concat(all))).toBe(true);
    expect(Buffer.concat(received.take())).toEqual(Buffer.from([3, 4]));
  });

  it.each([
    ['large pieces', 65_536, 32],
    ['single bytes', 1, 1 << 21],
  ])('is enough at some time: %s', (_, bytes, most) => {
    const received = new Received();
    let pieces = 0;
    while (!received.isFull) {
      received.add(Buffer.alloc(bytes));
      pieces += 1;
    }
    expect(pieces).toBeGreaterThan(most / 2);
    expect(pieces).toBeLessThanOrEqual(most);
    received.take();
    expect(received.isFull).toBe(false);
  });
});
