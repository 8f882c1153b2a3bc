import { unlessAborted } from '../async.ts';
import { type Segment, Segmenter, type SegmentOptions } from './segment.ts';

/** So long does what is whole wait for the text behind it, in milliseconds of waiting for the source. */
export const PATIENCE = 100;
/** After so many milliseconds without text, a full stop at the end ends the sentence. */
const QUIET = 500;

/**
 * Cuts text that somebody is still writing into segments, each given out as soon as it can be spoken.
 *
 * - Text that comes without a wait (a file through a pipe) gives the segments of `segments()`. Only time spent
 *   waiting for the source counts, not the time the reader of the segments takes.
 * - After {@link PATIENCE} of waiting with text in hand, whole sentences are given out, packed as always: those
 *   that another one follows, that end their line, or that an empty line follows. Until then a short text may
 *   still turn out to be all there is, and be spoken as one.
 * - After {@link QUIET} of silence a full stop at the end is enough. A sentence without its end waits for it, but no
 *   more is held than fits into one segment.
 * - At the end everything is given out, but for marks that belong to a sentence given out before.
 *
 * @throws the signal's reason, at once, even while the source hangs; the source is told to stop, but not awaited
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
    const due = Math.max(1, Math.min(PATIENCE - waited, QUIET - silence));
    const startedAt = performance.now();
    const arrival = await arrivals.next(mayFlush ? due : undefined);
    if (arrival?.done) return;
    const elapsed = performance.now() - startedAt;
    if (mayFlush) waited += elapsed;
    silence = arrival ? 0 : silence + Math.max(due, elapsed);
    if (arrival) yield* segmenter.push(arrival.value);
    if (arrival && waited < PATIENCE) continue;
    yield* segmenter.flush(silence >= QUIET);
    waited = 0;
  }
}

/** Waits for the items of a source for a limited time. An item that comes later is not lost: the next wait gets it. */
export class Arrivals<T> {
  readonly #iterator: AsyncIterator<T>;
  readonly #signal: AbortSignal;
  #pending: Promise<IteratorResult<T>> | undefined;

  constructor(source: AsyncIterable<T>, signal: AbortSignal) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  /**
   * @param patience in milliseconds; without it there is no limit
   * @returns the next item or the end of the source; undefined if nothing came in time
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

  /**
   * Tells the source to stop. This does not wait: a generator in the middle of a read answers only after it. Nor does
   * it throw: whoever leaves early has an error of his own, or no interest.
   */
  close(): void {
    this.#pending?.catch(() => {});
    this.#iterator.return?.().catch(() => {});
  }
}

/** What is made of a source that is told to stop when that is over, or left. */
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

/** Without a number of milliseconds it is never reached. */
function after(patience: number | undefined) {
  let timer: NodeJS.Timeout | undefined;
  const reached = new Promise<undefined>((resolve) => {
    // After a busy moment, what has arrived meanwhile is read before an immediate runs, so that it counts as in time.
    const giveUp = () => setImmediate(() => resolve(undefined));
    if (patience !== undefined) timer = setTimeout(giveUp, patience).unref();
  });
  return { reached, timer };
}
