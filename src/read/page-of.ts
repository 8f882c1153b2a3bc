import type { Piece } from '../text/piece.ts';
import { openHtml } from './html.ts';
import type { About, HtmlOptions, Reading, Source } from './reading.ts';

/** UTF-16 units that are handed out at once. */
const SLICE = 65_536;

/** Reads a document that was written as HTML. Its lines are not those of the source. */
export async function openAsPage(
  source: Source,
  html: string,
  options: HtmlOptions,
  { about, signal }: { readonly about: About | undefined; readonly signal: AbortSignal },
): Promise<Reading> {
  const bytes = () => bytesOf(`<!doctype html><meta charset="utf-8">${html}`);
  // All of it is the text.
  const page = await openHtml({ ...source, bytes, again: bytes }, { ...options, readsAll: true }, signal);
  return {
    source,
    about,
    async *pieces(until, how) {
      for await (const piece of page.pieces(until, how)) yield withoutLine(piece);
    },
  };
}

async function* bytesOf(html: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < html.length; ) {
    // A character of two units stays whole.
    const end = at + SLICE + (/[\ud800-\udbff]/.test(html[at + SLICE - 1] ?? '') ? 1 : 0);
    yield Buffer.from(html.slice(at, end));
    at = end;
  }
}

/** For text that has other lines than its source. */
export function withoutLine(piece: Piece): Piece {
  return piece.kind === 'text' ? { ...piece, place: { source: piece.place.source } } : piece;
}

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text for HTML, also inside of quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/gu, (sign) => SIGNS[sign] ?? sign);
}
