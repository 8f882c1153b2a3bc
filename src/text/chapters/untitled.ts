import type { Stage } from '../live.ts';
import { type Piece, placeAfter, type TextPiece, writtenOf } from '../piece.ts';

/** UTF-16 units. A longer block is not a title. */
const LONGEST_TITLE = 1000;

/** Leaves the titles of chapters out: the headings where a chapter begins, and blocks that repeat its title. */
export class UntitledChapters implements Stage<Piece, Piece> {
  /** The words of the title that were not read yet; `undefined` after the title. */
  #left: string | undefined;
  #held: Piece[] = [];
  /** UTF-16 units of what is held. A piece counts as one more: marks have no text. */
  #length = 0;
  #isInHeading = false;

  *push(piece: Piece): Generator<Piece> {
    if (piece.kind === 'chapter') {
      yield* this.#judge();
      this.#left = wordsOf(piece.title ?? '');
      return yield piece;
    }
    if (this.#left === undefined) return yield piece;
    if (piece.kind === 'heading' && this.#isInHeading) return this.#leaveOut();
    if (piece.kind === 'text' && !this.#isInHeading) return yield* this.#lines(piece);
    if (this.#isInHeading) return yield* this.#hold(piece);
    yield* this.#judge();
    if (piece.kind !== 'heading' || this.#left === undefined) return yield piece;
    this.#isInHeading = true;
    this.#take();
    this.#add(piece);
  }

  end(): Iterable<Piece> {
    return this.#judge();
  }

  *#hold(piece: Piece): Generator<Piece> {
    this.#add(piece);
    if (this.#length > LONGEST_TITLE) yield* this.#release();
  }

  #add(piece: Piece): void {
    this.#held.push(piece);
    this.#length += 1 + writtenOf(piece).length;
  }

  #take(): readonly Piece[] {
    this.#length = 0;
    return this.#held.splice(0);
  }

  /** A line of plain text may be a title. */
  *#lines({ text, place, ...piece }: TextPiece): Generator<Piece> {
    const [first = ''] = /^\s*\S[^\n]*\n\s*/u.exec(text) ?? [];
    if (first === '') return yield* this.#hold({ ...piece, text, place });
    this.#add({ ...piece, text: first, place });
    yield* this.#judge();
    if (first.length < text.length)
      yield* this.push({ ...piece, text: text.slice(first.length), place: placeAfter(place, first) });
  }

  /** It decides on a block that is not a heading. */
  *#judge(): Generator<Piece> {
    const words = wordsOf(textOf(this.#held));
    if (words !== '' && ` ${this.#left ?? ''} `.includes(` ${words} `)) this.#leaveOut();
    else if (words !== '' || this.#length > LONGEST_TITLE) yield* this.#release();
  }

  *#release(): Generator<Piece> {
    this.#left = undefined;
    this.#isInHeading = false;
    yield* this.#take();
  }

  #leaveOut(): void {
    const words = wordsOf(textOf(this.#take()));
    this.#left = ` ${this.#left ?? ''} `.replace(` ${words} `, ' ').trim();
    this.#isInHeading = false;
  }
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
}

function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}
