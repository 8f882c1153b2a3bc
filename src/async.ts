/** Waits for nothing but the signal. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** What a promise comes to, unless the signal aborts before: then it fails with the signal's reason. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** An async iterable of one thing. */
export async function* only<T>(thing: T): AsyncGenerator<T> {
  yield thing;
}

export interface Passage<T> {
  /** Sees every item before the reader does. */
  readonly each?: (item: T) => void;
  /**
   * Runs once, at the end, at an error, or when the reader leaves, be it before the first item. Then it comes before the
   * closing of the source, which may wait for something that only the release ends.
   */
  readonly release?: () => void | Promise<void>;
  /** Makes of an error of the source the one that the reader gets. */
  readonly explain?: (error: unknown) => unknown;
}

/**
 * The items of a source as they come, with something to do when they end. A generator would do it too, but costs
 * several times as much for each item, and its `finally` does not run when nobody began to read it.
 */
export function passing<T>(
  source: AsyncIterable<T>,
  { each, release, explain }: Passage<T>,
): AsyncIterableIterator<T, undefined> {
  const items = source[Symbol.asyncIterator]();
  let released: void | Promise<void>;
  let isReleased = false;
  const releaseOnce = () => {
    if (!isReleased) released = release?.();
    isReleased = true;
    return released;
  };
  const end = async (): Promise<IteratorResult<T, undefined>> => {
    await releaseOnce();
    return { done: true, value: undefined };
  };
  // Not async: a promise for each item would cost more than all else here.
  const pass = (next: IteratorResult<T, unknown>) => {
    if (next.done) return end();
    each?.(next.value);
    return next;
  };
  const fail = async (error: unknown): Promise<never> => {
    await releaseOnce();
    throw explain ? explain(error) : error;
  };
  return {
    next: () => items.next().then(pass, fail),
    async return() {
      try {
        return await end();
      } finally {
        await items.return?.();
      }
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** A generator that lets go of what it reads from even when nobody began to read it. */
export function releasing<T>(
  generator: AsyncIterable<T>,
  release: () => Promise<void>,
): AsyncIterableIterator<T, undefined> {
  return passing(generator, { release });
}
