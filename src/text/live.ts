import { unlessAborted } from '../async.ts';
import { WAITS } from './complete.ts';
import { type Segment, Segmenter, type SegmentOptions } from './segmenter.ts';

/** Milliseconds between two looks for complete sentences while the source waits. */
const FLUSH_AFTER_MS = 100;

/**
 * Text without waits has the segments of `segments()`; time that the reader takes does not count. The held text never
 * exceeds one segment.
 * @throws the signal's reason, at once, even while the source hangs
 */
export function liveSegments(
  text: AsyncIterable<string>,
  options: SegmentOptions,
  signal: AbortSignal,
): AsyncGenerator<Segment> {
  return whileGrowing(text, new Segmenter(options), signal);
}

export interface GrowingText<T> {
  readonly isHolding: boolean;
  push(piece: string): Iterable<T>;
  /** @param idle milliseconds without text */
  flush(idle: number): Iterable<T>;
  end(): Iterable<T>;
}

/** @throws the signal's reason, at once, even while the source hangs */
export async function* whileGrowing<T>(
  text: AsyncIterable<string>,
  growing: GrowingText<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  yield* whileArriving(text, signal, (arrivals) => untilEnd(arrivals, growing));
  yield* growing.end();
}

async function* untilEnd<T>(arrivals: Arrivals<string>, growing: GrowingText<T>): AsyncGenerator<T> {
  let sinceFlush = 0;
  let idle = 0;
  for (;;) {
    const next = nextWait(idle);
    const mayFlush = growing.isHolding && next < Number.POSITIVE_INFINITY;
    const due = Math.max(1, Math.min(FLUSH_AFTER_MS - sinceFlush, next - idle));
    const startedAt = performance.now();
    const arrival = await arrivals.next(mayFlush ? due : undefined);
    if (arrival?.done) return;
    const elapsed = performance.now() - startedAt;
    if (mayFlush) sinceFlush += elapsed;
    idle = arrival ? 0 : idle + Math.max(due, elapsed);
    if (arrival) yield* growing.push(arrival.value);
    if (arrival && sinceFlush < FLUSH_AFTER_MS) continue;
    yield* growing.flush(idle);
    sinceFlush = 0;
  }
}

function nextWait(idle: number): number {
  return Object.values(WAITS).find((each) => each > idle) ?? Number.POSITIVE_INFINITY;
}

/** A late item goes to the next wait. */
export class Arrivals<T> {
  readonly #iterator: AsyncIterator<T>;
  readonly #signal: AbortSignal;
  #pending: Promise<IteratorResult<T>> | undefined;

  constructor(source: AsyncIterable<T>, signal: AbortSignal) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  /**
   * @param patience milliseconds
   * @returns undefined if the time is over
   * @throws the source's error, or the signal's reason
   */
  async next(patience?: number): Promise<IteratorResult<T> | undefined> {
    this.#signal.throwIfAborted();
    this.#pending ??= this.#iterator.next();
    const limit = after(patience);
    try {
      const arrival = await unlessAborted(Promise.race([this.#pending, limit.reached]), this.#signal);
      if (arrival !== undefined) this.#pending = undefined;
      return arrival;
    } finally {
      clearTimeout(limit.timer);
    }
  }

  /** Does not wait for the source. Never throws. */
  close(): void {
    this.#pending?.catch(() => {});
    this.#iterator.return?.().catch(() => {});
  }
}

export async function* whileArriving<T, R>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
  make: (arrivals: Arrivals<T>) => AsyncIterable<R>,
): AsyncGenerator<R> {
  const arrivals = new Arrivals(source, signal);
  try {
    yield* make(arrivals);
  } finally {
    arrivals.close();
  }
}

function after(patience: number | undefined) {
  let timer: NodeJS.Timeout | undefined;
  const reached = new Promise<undefined>((resolve) => {
    // Text of a busy moment counts as in time.
    const giveUp = () => setImmediate(() => resolve(undefined));
    if (patience !== undefined) timer = setTimeout(giveUp, patience).unref();
  });
  return { reached, timer };
}
