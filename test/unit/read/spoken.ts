import type { Source } from '../../../src/read/reading.ts';
import { type Piece, writtenOf } from '../../../src/text/piece.ts';

/** Pieces as a text; a chapter is its title in braces, with its level. */
export async function written(pieces: AsyncIterable<Piece> | Iterable<Piece>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += shown(piece);
  return text;
}

function shown(piece: Piece): string {
  if (piece.kind === 'chapter') return `{${piece.level} ${piece.title ?? ''}}`;
  return writtenOf(piece);
}

/** A pipe that gives the text in pieces. */
export function pipe(pieces: readonly string[]): Source {
  return {
    name: 'a.txt',
    isLive: true,
    size: undefined,
    again: undefined,
    async *bytes() {
      yield* pieces.map((piece) => Buffer.from(piece));
    },
  };
}
