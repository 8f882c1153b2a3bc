import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEpub } from '../../../src/read/epub.ts';
import type { HtmlOptions, Reading, ReadOptions, Source } from '../../../src/read/reading.ts';
import { fileSource } from '../../../src/read/source.ts';
import { type Piece, writtenOf } from '../../../src/text/piece.ts';
import { emptyFolder } from '../../support/folder.ts';

export const { signal } = new AbortController();

/** As `tts` reads where nothing is set. */
export const PLAIN: ReadOptions = {
  code: 'announce',
  footnotes: 'read',
  readsNotes: false,
  speaksReadings: false,
  readsAll: false,
  hasChapters: false,
  isTimed: false,
  speaksSounds: false,
  host: { env: {}, platform: 'linux' },
};

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
export function pipe(pieces: readonly (string | Uint8Array)[], name = 'a.txt'): Source {
  async function* bytes() {
    yield* pieces.map((piece) => Buffer.from(piece as string));
  }
  return { name, bytes };
}

/** A file, which can be read again. */
export function fileOf(bytes: string | Uint8Array, name = 'a.txt'): Source {
  const source = pipe([bytes], name);
  return { ...source, size: bytes.length, again: source.bytes };
}

/** A book in a file of its own. */
export function openBook(book: Buffer, options: Partial<HtmlOptions> = {}): Promise<Reading> {
  const path = join(emptyFolder(), 'book.epub');
  writeFileSync(path, book);
  return openEpub(fileSource(path, '/'), { ...PLAIN, ...options }, signal);
}

/** A text in pieces of this many characters. */
export function cutInto(size: number, text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
}
