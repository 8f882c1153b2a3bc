import { countCodePoints } from './code-points.ts';
import { cut } from './cut.ts';
import { sentences } from './sentences.ts';

/** How much goes into one piece, in code points without outer white space. */
export interface Room {
  /** No piece is longer than this. */
  readonly max: number;
  /** Sentences are put together up to this, for the piece with this number in its paragraph. */
  readonly target: (piece: number) => number;
}

/**
 * Puts the sentences of a paragraph together into pieces. Lossless: the pieces joined are the paragraph.
 * @param first the number of the first piece in its paragraph, from 0
 */
export function* pack(paragraph: string, first: number, { max, target }: Room): Generator<string> {
  let piece = '';
  let length = 0;
  let number = first;
  for (const part of parts(paragraph, max)) {
    if (piece !== '' && length + countCodePoints(part.trimEnd()) > Math.min(max, target(number))) {
      yield piece;
      number += 1;
      piece = '';
      length = 0;
    }
    piece += part;
    length += countCodePoints(part);
  }
  if (piece !== '') yield piece;
}

function* parts(paragraph: string, max: number): Generator<string> {
  for (const sentence of sentences(paragraph)) yield* cut(sentence, max);
}
