import type { Piece, TextPiece } from '../text/piece.ts';
import type { Stage } from '../text/stage.ts';
import { hasWord } from '../text/unicode.ts';
import {
  CONTENTS_NOTE,
  MaybeContents,
  NOTES_NOTE,
  type NoteKind,
  namesContents,
  noteKind,
  type Origin,
} from './gutenberg-parts.ts';

/** UTF-16 units. A longer note under a label that is not a heading is text again. */
const LONGEST_NOTE = 4000;

/**
 * Leaves out of pages and EPUBs the notes of the transcriber and the table of contents. A heading with their name begins them, or
 * the first words of a block.
 */
export class MarkupText implements Stage<Piece, Piece> {
  readonly #origin: Origin;
  readonly #onRemark: (remark: string) => void;
  /** What is left out: a block, all up to a closing bracket, or all up to the next heading. */
  #skipped: 'block' | 'bracket' | 'section' | undefined;
  /** UTF-16 units that may still be left out. */
  #left = 0;
  #contents: MaybeContents | undefined;
  /** The beginning of a heading whose text has not come. */
  #heading: Piece | undefined;
  #isInHeading = false;
  #isBlockStart = true;

  constructor(origin: Origin, onRemark: (remark: string) => void) {
    this.#origin = origin;
    this.#onRemark = onRemark;
  }

  *push(piece: Piece): Generator<Piece> {
    if (!this.#origin.isFound) yield piece;
    else if (piece.kind === 'text') yield* this.#text(piece);
    else if (piece.kind === 'heading') yield* this.#turn(piece);
    else yield* this.#border(piece);
  }

  *end(): Generator<Piece> {
    yield* this.#endContents();
    if (this.#heading) yield this.#heading;
  }

  *#border(piece: Piece): Generator<Piece> {
    if (piece.kind === 'voice' || piece.kind === 'pause') return yield* this.#give(piece);
    this.#isBlockStart = true;
    const isSkipped = this.#skipped !== undefined;
    if (piece.kind === 'chapter' || (piece.kind === 'scene' && this.#contents?.isWhole))
      yield* this.#endContents();
    if (this.#skipped === 'block' || piece.kind !== 'paragraph') this.#skipped = undefined;
    if (!isSkipped || piece.kind === 'chapter') yield* this.#give(piece);
  }

  *#give(piece: Piece): Generator<Piece> {
    if (this.#contents) this.#contents.pieces.push(piece);
    else yield piece;
  }

  /** A heading begins or ends. */
  *#turn(piece: Piece): Generator<Piece> {
    this.#isBlockStart = true;
    this.#isInHeading = !this.#isInHeading;
    if (this.#isInHeading) {
      yield* this.#endContents();
      this.#heading = piece;
      this.#skipped = undefined;
    } else if (this.#skipped === undefined) {
      if (this.#heading) yield* this.#give(this.#heading);
      this.#heading = undefined;
      yield* this.#give(piece);
    }
  }

  *#text(piece: TextPiece): Generator<Piece> {
    const { text } = piece;
    const isFirst = this.#isBlockStart && this.#skipped === undefined;
    const kind = isFirst ? noteKind(text) : undefined;
    if (kind) yield* this.#beginNote(kind);
    else if (hasWord(text) && this.#skipped === undefined) yield* this.#lookForContents(text, isFirst);
    if (hasWord(text)) this.#isBlockStart = false;
    if (this.#skipped === undefined) {
      const heading = this.#heading;
      this.#heading = undefined;
      if (heading) yield* this.#give(heading);
      return yield* this.#give(piece);
    }
    this.#left -= text.length;
    if (this.#skipped === 'bracket' && /\]\s*$/u.test(text)) this.#skipped = 'block';
    else if (this.#left < 0) this.#skipped = 'block';
  }

  *#beginNote(kind: NoteKind): Generator<Piece> {
    yield* this.#endContents();
    this.#onRemark(NOTES_NOTE);
    this.#left = this.#heading ? Number.POSITIVE_INFINITY : LONGEST_NOTE;
    this.#skipped = this.#heading || kind === 'line' ? 'section' : kind === 'bracket' ? 'bracket' : 'block';
    this.#heading = undefined;
  }

  *#lookForContents(text: string, isFirst: boolean): Generator<Piece> {
    const content = text.trim();
    if (isFirst && namesContents(content)) {
      yield* this.#endContents();
      this.#contents = new MaybeContents([]);
    } else if (this.#contents?.isOverAt(content)) yield* this.#endContents();
    else if (!this.#isInHeading) this.#contents?.add(content);
  }

  *#endContents(): Generator<Piece> {
    const contents = this.#contents;
    this.#contents = undefined;
    if (contents?.isWhole) this.#onRemark(CONTENTS_NOTE);
    yield* contents?.rest() ?? [];
  }
}
