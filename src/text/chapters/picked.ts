import { type TtsError, usageError } from '../../error.ts';
import type { Stage } from '../live.ts';
import type { Piece } from '../piece.ts';
import { hasWord } from '../unicode.ts';

/** The beginning and the end of a range of chapters, both included. */
export type ChapterRange = readonly [first: number, last: number];

type Chapter = Extract<Piece, { kind: 'chapter' }>;

/** Lets through only the chapters that somebody asked for. A chapter without a word has no number. */
export class PickedChapters implements Stage<Piece, Piece> {
  readonly #ranges: readonly ChapterRange[];
  /** What follows the border of a chapter, until its first word. */
  #held: Piece[] = [];
  #opening: Chapter | undefined;
  #number = 0;
  #isPicked = false;

  constructor(ranges: readonly ChapterRange[]) {
    this.#ranges = ranges;
  }

  *push(piece: Piece): Generator<Piece> {
    if (piece.kind === 'chapter') {
      yield* voicesOf(this.#held);
      this.#opening = piece;
      this.#held = [];
    } else if (!this.#opening) {
      if (this.#isPicked || piece.kind === 'voice') yield piece;
    } else {
      this.#held.push(piece);
      if (piece.kind === 'text' && hasWord(piece.text)) yield* this.#begin(this.#opening);
    }
  }

  /** @throws TtsError (usage) for a chapter that the text does not have */
  *end(): Generator<Piece> {
    const missing = this.#ranges.find(([, last]) => last > this.#number);
    if (missing) throw noSuchChapter(missing[1], this.#number);
  }

  *#begin(opening: Chapter): Generator<Piece> {
    this.#number += 1;
    const number = this.#number;
    this.#isPicked = this.#ranges.some(([first, last]) => number >= first && number <= last);
    const held = this.#held;
    this.#opening = undefined;
    this.#held = [];
    if (this.#isPicked) {
      yield { ...opening, number };
      yield* held;
    } else yield* voicesOf(held);
  }
}

/** They speak on in the chapters that follow. */
function voicesOf(pieces: readonly Piece[]): Piece[] {
  return pieces.filter(({ kind }) => kind === 'voice');
}

function noSuchChapter(wanted: number, count: number): TtsError {
  const has = count === 0 ? 'the text has no chapters' : `the text has ${count} of them`;
  return usageError(`--chapters: there is no chapter ${wanted}: ${has}`, '--dry-run lists the chapters');
}
