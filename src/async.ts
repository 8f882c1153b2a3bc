/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The promise, or the signal's reason as an error if it aborts before. */
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

/** For disposers: an error of closing must not hide the outcome of the run, and becomes a warning. */
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
