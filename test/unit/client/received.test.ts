import { describe, expect, it } from 'vitest';
import { Received } from '../../../src/client/received.ts';

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
    for (let byte = 0; byte < 100; byte++) received.add(Buffer.from([byte]));
    expect(received.take()).toEqual([Buffer.from(Array.from({ length: 100 }, (_, byte) => byte))]);
  });

  it.each([
    ['large pieces', 65_536, 16],
    ['single bytes', 1, 4096],
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
