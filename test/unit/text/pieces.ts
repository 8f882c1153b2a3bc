/** A text in pieces, as it comes from a file or a pipe; of one size, or of each of some sizes in turn. */
export async function* inPieces(text: string, ...sizes: readonly number[]): AsyncGenerator<string> {
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield text.slice(at, at + size);
    at += size;
  }
}
