/** One thing, as what comes of it piece by piece. */
export async function* only<T>(thing: T): AsyncGenerator<T> {
  yield thing;
}
