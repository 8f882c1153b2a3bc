/** Reads documents that were converted into HTML. */
import type { Piece } from '../text/piece.ts';
import { openHtml } from './html.ts';
import type { About, HtmlOptions, Reading, Source } from './reading.ts';

/** Bytes per piece. */
const SLICE = 65_536;

/**
 * Reads a document that was converted into HTML. Pieces have no line numbers, since the lines are not those of the source.
 */
export async function openAsPage(
  source: Source,
  html: string,
  options: HtmlOptions,
  { about, signal }: { readonly about: About | undefined; readonly signal: AbortSignal },
): Promise<Reading> {
  const all = Buffer.from(`<!doctype html><meta charset="utf-8">${html}`);
  async function* bytes() {
    for (let at = 0; at < all.length; at += SLICE) yield all.subarray(at, at + SLICE);
  }
  // Nothing is left out: the converted page has only text.
  const page = await openHtml({ ...source, bytes, again: bytes }, { ...options, readsAll: true }, signal);
  return {
    source,
    about,
    async *pieces(until, how) {
      for await (const piece of page.pieces(until, how)) yield withoutLine(piece);
    },
  };
}

/** Removes the line from a piece whose text has other lines than its source. */
export function withoutLine(piece: Piece): Piece {
  return piece.kind === 'text' ? { ...piece, place: { source: piece.place.source } } : piece;
}
