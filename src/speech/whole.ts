import { type TtsError, usageError } from '../error.ts';
import type { Piece } from '../text/piece.ts';

/** UTF-16 units of a text in one request; 75 hours of speech. */
const LONGEST_WHOLE = 4 * 1024 * 1024;

/**
 * A text that is one request: no border cuts it.
 * @throws TtsError (usage) for one that is too long
 */
export async function* whole(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  let length = 0;
  for await (const piece of pieces) {
    if (piece.kind === 'text') length += piece.text.length;
    if (length > LONGEST_WHOLE) throw tooLong();
    yield isBorder(piece) ? { kind: 'paragraph' } : piece;
  }
}

function isBorder({ kind }: Piece): boolean {
  return kind === 'heading' || kind === 'scene' || kind === 'chapter';
}

function tooLong(): TtsError {
  return usageError(
    `the text is longer than ${LONGEST_WHOLE} characters, but --callback-url needs it in one request`,
    'speak it in parts, or without --callback-url: then it is cut into many requests',
  );
}
