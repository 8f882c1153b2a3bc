import { unlessAborted } from '../async.ts';
import { type Segment, Segmenter, type SegmentOptions } from './segment.ts';

/** Milliseconds of waiting for the source, after which complete sentences are given out. */
export const FLUSH_AFTER_MS = 100;
/** Milliseconds without text, after which a full stop at the end ends its sentence. */
const QUIET = 500;

/**
 * Cuts a text while it is written. Each segment leaves as soon as it can be spoken.
 * Text without waits has the segments of `segments()`; time that the reader takes does not count. After {@link FLUSH_AFTER_MS},
 * complete sentences leave: another sentence, a line end or an empty line follows them. After {@link QUIET}, a full stop at
 * the end completes one. The held text never exceeds one segment.
 * @throws the signal's reason, at once, even while the source hangs
 */
export async function* liveSegments(
  text: AsyncIterable<string>,
  options: SegmentOptions,
  signal: AbortSignal,
): AsyncGenerator<Segment> {
  const segmenter = new Segmenter(options);
  yield* whileArriving(text, signal, (arrivals) => untilEnd(arrivals, segmenter));
  yield* segmenter.end();
}

async function* untilEnd(arrivals: Arrivals<string>, segmenter: Segmenter): AsyncGenerator<Segment> {
  let waited = 0;
  let silence = 0;
  for (;;) {
    const mayFlush = segmenter.isHolding && silence < QUIET;
    const due = Math.max(1, Math.min(FLUSH_AFTER_MS - waited, QUIET - silence));
    const startedAt = performance.now();
    const arrival = await arrivals.next(mayFlush ? due : undefined);
    if (arrival?.done) return;
    const elapsed = performance.now() - startedAt;
    if (mayFlush) waited += elapsed;
    silence = arrival ? 0 : silence + Math.max(due, elapsed);
    if (arrival) yield* segmenter.push(arrival.value);
    if (arrival && waited < FLUSH_AFTER_MS) continue;
    yield* segmenter.flush(silence >= QUIET);
    waited = 0;
  }
}

/** Waits for items for a limited time. The next wait gets a late item. */
export class Arrivals<T> {
  readonly #iterator: AsyncIterator<T>;
  readonly #signal: AbortSignal;
  #pending: Promise<IteratorResult<T>> | undefined;

  constructor(source: AsyncIterable<T>, signal: AbortSignal) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  /**
   * @param patience milliseconds; unlimited without it
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

  /** Stops the source without waiting for it; a source that reads answers only afterwards. Never throws. */
  close(): void {
    this.#pending?.catch(() => {});
    this.#iterator.return?.().catch(() => {});
  }
}

/** Stops the source when the reader leaves or `make` ends. */
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
    // Text that arrived during a busy moment is read first, and counts as in time.
    const giveUp = () => setImmediate(() => resolve(undefined));
    if (patience !== undefined) timer = setTimeout(giveUp, patience).unref();
  });
  return { reached, timer };
}
