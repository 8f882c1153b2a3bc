import { type Piece, writtenOf } from './piece.ts';
import type { Limit } from './segment.ts';
import { hasAtMost } from './unicode.ts';

/** UTF-16 units. */
const SMALLEST_WINDOW = 16_384;
const SEGMENTS_IN_WINDOW = 8;
/** A text with more borders is a long one, however little stands between them. */
const MOST_HELD = 1000;

/** The longest text that may wait for its end, in UTF-16 units. */
export function windowOf({ maxChars }: Limit): number {
  return Math.max(SMALLEST_WINDOW, maxChars * SEGMENTS_IN_WINDOW);
}

/** These are all pieces but marks. */
type Written<V> = Exclude<Piece<V>, { readonly kind: 'pause' | 'voice' }>;

/** A piece, and whether the text that it stands in fits one segment. */
export interface Judged<V> {
  readonly piece: Written<V>;
  readonly isInShort: boolean;
}

/**
 * Tells of each border whether it stands in a text that fits one segment, since a longer text is cut at its paragraphs, too.
 * Until that is known, the borders wait, with all that comes after them.
 */
export class ShortText<V> {
  readonly #limit: () => Limit;
  #held: Written<V>[] = [];
  /** True if something of what waits can be heard. */
  isHolding = false;
  #written = '';
  #mayBeShort: boolean;

  /** @param mayBeShort false if no border has to wait */
  constructor(limit: () => Limit, mayBeShort: boolean) {
    this.#limit = limit;
    this.#mayBeShort = mayBeShort;
  }

  *push(piece: Written<V>): Generator<Judged<V>> {
    const written = writtenOf(piece);
    if (this.#mayBeShort && this.#isLongWith(written)) yield* this.judge(false);
    const isBorder = piece.kind !== 'text' && piece.kind !== 'paragraph';
    if (this.#mayBeShort && (isBorder || this.#held.length > 0)) {
      this.#held.push(piece);
      this.isHolding ||= written.trim() !== '';
    } else yield { piece, isInShort: false };
  }

  #isLongWith(text: string): boolean {
    if (text === '') return this.#held.length >= MOST_HELD;
    const limit = this.#limit();
    this.#written += text;
    return this.#written.length >= windowOf(limit) || !hasAtMost(this.#written.trim(), limit.maxChars);
  }

  /** Gives out what waits. What follows stands in the same text. */
  *judge(isShort: boolean): Generator<Judged<V>> {
    const held = this.#held;
    this.#held = [];
    this.isHolding = false;
    this.#written = '';
    this.#mayBeShort = false;
    for (const piece of held) yield { piece, isInShort: isShort };
  }

  /** Gives out what waits; then another text begins. */
  *end(mayBeShort: boolean): Generator<Judged<V>> {
    yield* this.judge(true);
    this.#mayBeShort = mayBeShort;
  }
}
