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
