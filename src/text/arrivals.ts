import { unlessAborted } from '../aborted.ts';

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
