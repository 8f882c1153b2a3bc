import { setImmediate as turn } from 'node:timers/promises';

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Rejects with the signal's reason if it aborts first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

export async function* singleItem<T>(item: T): AsyncGenerator<T> {
  yield item;
}

/** Closes after a run: an error must not hide its outcome, and becomes a warning. */
export async function closeQuietly(
  close: () => Promise<void>,
  notices: { warn(text: string): void },
): Promise<void> {
  try {
    await close();
  } catch (error) {
    notices.warn(`closing failed: ${error instanceof Error ? error.message : error}`);
  }
}

/** Other work of the process has its turn. */
export async function yieldToEventLoop(): Promise<void> {
  await turn();
}

/** The items of a source, each waited for as long as the reader likes. A late item goes to the next wait. */
export class Arrivals<T> implements Disposable {
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
   * @throws the source's error, or the signal's reason, at once, even while the source hangs
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

  /** Ends the source, and does not wait for it. */
  [Symbol.dispose](): void {
    this.#pending?.catch(() => {});
    this.#iterator.return?.().catch(() => {});
  }
}

function after(patience: number | undefined) {
  let timer: NodeJS.Timeout | undefined;
  const reached = new Promise<undefined>((resolve) => {
    // What comes in a busy moment counts as in time.
    const giveUp = () => setImmediate(() => resolve(undefined));
    if (patience !== undefined) timer = setTimeout(giveUp, patience).unref();
  });
  return { reached, timer };
}
