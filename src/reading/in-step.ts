import type { LiveStage } from '../text/live.ts';
import type { Piece } from '../text/piece.ts';

/** What the readers of a run give out; characters are still to be read, in step with their writer. */
export type Item =
  | Piece
  | { readonly kind: 'characters'; readonly text: string; readonly stage: LiveStage<string, Piece> }
  | { readonly kind: 'end' };

/** Reads characters, and takes the name of the only text out of its pieces. */
export class InStep implements LiveStage<Item, Piece> {
  readonly #isOnly: boolean;
  #stage: LiveStage<string, Piece> | undefined;

  constructor(isOnly: boolean) {
    this.#isOnly = isOnly;
  }

  get isHolding(): boolean {
    return this.#stage?.isHolding ?? false;
  }

  *push(item: Item): Generator<Piece> {
    if (item.kind === 'characters') {
      this.#stage = item.stage;
      yield* this.#placed(item.stage.push(item.text));
    } else if (item.kind === 'end') {
      yield* this.#placed(this.#stage?.end() ?? []);
      this.#stage = undefined;
    } else yield* this.#placed([item]);
  }

  *flush(idle: number): Generator<Piece> {
    yield* this.#placed(this.#stage?.flush(idle) ?? []);
  }

  end(): readonly Piece[] {
    return [];
  }

  *#placed(pieces: Iterable<Piece>): Generator<Piece> {
    for (const piece of pieces)
      yield this.#isOnly && piece.kind === 'text'
        ? { ...piece, place: { ...piece.place, source: '' } }
        : piece;
  }
}
