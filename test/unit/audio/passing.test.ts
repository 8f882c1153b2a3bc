import { describe, expect, it } from 'vitest';
import { passing } from '../../../src/async.ts';

async function* counting(): AsyncGenerator<number> {
  for (let number = 0; ; number++) yield number;
}

describe('what is to be done at the end', () => {
  it('is done once, whether the source ends, fails or is left', async () => {
    for (const end of ['ends', 'fails', 'is left'] as const) {
      let released = 0;
      async function* source() {
        yield 1;
        if (end === 'fails') throw new Error('broken');
        if (end === 'is left') yield* counting();
      }
      const items = passing(source(), {
        release: () => {
          released += 1;
        },
      });
      await items.next();
      if (end === 'is left') await items.return?.();
      else await items.next().catch(() => {});
      await items.return?.();
      expect({ end, released }).toEqual({ end, released: 1 });
    }
  });

  it('is done before anything was read', async () => {
    let released = false;
    await passing(counting(), {
      release: () => {
        released = true;
      },
    }).return?.();
    expect(released).toBe(true);
  });

  it('is done though the closing of the source fails, which is told', async () => {
    let released = false;
    async function* source() {
      try {
        yield 1;
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: what this test is about
        throw new Error('cannot be closed');
      }
    }
    const items = passing(source(), {
      release: () => {
        released = true;
      },
    });
    await items.next();
    await expect(items.return?.()).rejects.toThrow('cannot be closed');
    expect(released).toBe(true);
  });

  it('may be what ends the waiting of the source', async () => {
    let wake = () => {};
    async function* source() {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      yield 1;
    }
    const items = passing(source(), { release: () => wake() });
    const waiting = items.next();
    await items.return?.();
    expect(await waiting).toEqual({ done: false, value: 1 });
  });
});
