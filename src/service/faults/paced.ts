import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { Effects } from './fault.ts';

const WRITES_PER_SECOND = 20;

/** Milliseconds: a pause of the engine is no credit. */
const CATCH_UP = 100;

/** Milliseconds; the limit of Node's timers. */
const LONGEST_SLEEP = 2 ** 31 - 1;

export async function* paced(
  body: AsyncIterable<Uint8Array>,
  { bandwidth = Number.POSITIVE_INFINITY, slice = Math.ceil(bandwidth / WRITES_PER_SECOND) }: Effects,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let due = performance.now();
  for await (const piece of body) {
    for (let at = 0; at < piece.length; at += slice) {
      const wait = Math.min(due - performance.now(), LONGEST_SLEEP);
      // Two writes stay apart.
      await (wait >= 1 ? sleep(wait, undefined, { signal }) : turn());
      const part = piece.subarray(at, at + slice);
      due = Math.max(due, performance.now() - CATCH_UP) + (1000 * part.length) / bandwidth;
      yield part;
    }
  }
}
