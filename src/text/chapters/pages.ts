import type { Stage } from '../live.ts';
import { type Piece, placeAfter } from '../piece.ts';

/** UTF-16 units. A longer first line is not a title. */
const LONGEST_TITLE = 100;

/**
 * It begins a chapter after each form feed, and at the start of a text that is known to have one. The first line of a chapter is
 * its title, if it is a short one.
 */
export class PageChapters implements Stage<Piece, Piece> {
  readonly #facts: { readonly hasLaterPages: boolean };
  /** What was read of a page whose first line is not complete. */
  #held: Piece[] | undefined = [];
  #first = '';
  #isAtStart = true;

  constructor(facts: { readonly hasLaterPages: boolean }) {
    this.#facts = facts;
  }

  *push(piece: Piece): Generator<Piece> {
    if (this.#isAtStart) {
      this.#isAtStart = false;
      if (!this.#facts.hasLaterPages) this.#held = undefined;
    }
    if (piece.kind !== 'text') return yield* this.#add(piece);
    let { place } = piece;
    for (const [at, text] of piece.text.split('\f').entries()) {
      if (at > 0) {
        yield* this.#begin();
        this.#held = [];
        this.#first = '';
      }
      if (text !== '') yield* this.#add({ ...piece, text, place });
      place = placeAfter(place, text);
    }
  }

  end(): Iterable<Piece> {
    return this.#begin();
  }

  *#add(piece: Piece): Generator<Piece> {
    if (!this.#held) return yield piece;
    this.#held.push(piece);
    if (piece.kind === 'text') this.#first = (this.#first + piece.text).trimStart();
    if (this.#first.includes('\n') || this.#first.length > LONGEST_TITLE) yield* this.#begin();
  }

  *#begin(): Generator<Piece> {
    if (!this.#held) return;
    const line = this.#first.split('\n', 1)[0]?.trim() ?? '';
    yield { kind: 'chapter', title: line === '' || line.length > LONGEST_TITLE ? undefined : line, level: 1 };
    yield* this.#held;
    this.#held = undefined;
  }
}
