import type { Stage } from '../live.ts';
import type { Piece } from '../piece.ts';

/** The lowest heading that begins a chapter, unless the first one is lower. */
const LOWEST_CHAPTER = 2;

/** Begins a chapter in front of each heading of the two highest levels. */
export class HeadingChapters implements Stage<Piece, Piece> {
  #lowest: number | undefined;
  /** The heading that is read, from its border on; `undefined` outside of headings that begin chapters. */
  #held: Piece[] | undefined;
  #level = 0;
  #isInside = false;

  *push(piece: Piece): Generator<Piece> {
    if (piece.kind === 'heading') {
      this.#isInside = !this.#isInside;
      if (this.#isInside && this.#isChapter(piece.level)) this.#held = [];
    }
    if (!this.#held) return yield piece;
    this.#held.push(piece);
    if (!this.#isInside) yield* this.#chapter();
  }

  *end(): Generator<Piece> {
    if (this.#held) yield* this.#chapter();
  }

  *#chapter(): Generator<Piece> {
    const held = this.#held ?? [];
    this.#held = undefined;
    const text = held.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
    yield { kind: 'chapter', title: titleOf(text), level: this.#level };
    yield* held;
  }

  /** A text whose first heading is a small one has chapters of that size. */
  #isChapter(level: number): boolean {
    this.#lowest ??= Math.max(LOWEST_CHAPTER, level);
    this.#level = level;
    return level <= this.#lowest;
  }
}

/** Marks, which are characters for private use here, may follow it. */
const FULL_STOP = /(?<![.。।])[.。।](?=[ \p{Co}]*$)/u;

/** Readers give a heading a full stop. */
function titleOf(text: string): string | undefined {
  const title = text.replace(/\s+/gu, ' ').trim();
  return title.replace(FULL_STOP, '') || undefined;
}
