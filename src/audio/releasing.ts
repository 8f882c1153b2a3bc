/**
 * A generator that lets go of what it reads from even when nobody began to read it: the `finally` of a generator
 * that was never started does not run.
 *
 * @param release runs once, at the end, at an error, or when the reader leaves
 */
export function releasing<T>(
  generator: AsyncGenerator<T>,
  release: () => Promise<void>,
): AsyncIterableIterator<T, undefined> {
  let released: Promise<void> | undefined;
  const releaseOnce = () => {
    released ??= release();
    return released;
  };
  return {
    async next() {
      try {
        const next = await generator.next();
        if (!next.done) return next;
      } catch (error) {
        await releaseOnce();
        throw error;
      }
      await releaseOnce();
      return { done: true, value: undefined };
    },
    async return() {
      await generator.return(undefined);
      await releaseOnce();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
