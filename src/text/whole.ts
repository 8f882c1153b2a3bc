import type { TtsError } from '../error.ts';

/**
 * All of a text, where nothing can be done with a part of it.
 * @param most in UTF-16 units: what comes may have no end
 * @throws what `tooLong` makes, as soon as there is more
 */
export async function readWhole(
  text: AsyncIterable<string>,
  most: number,
  tooLong: () => TtsError,
): Promise<string> {
  const pieces: string[] = [];
  let length = 0;
  for await (const piece of text) {
    length += piece.length;
    if (length > most) throw tooLong();
    pieces.push(piece);
  }
  return pieces.join('');
}
