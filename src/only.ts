/** An async iterable of one thing. */
export async function* only<T>(thing: T): AsyncGenerator<T> {
  yield thing;
}
