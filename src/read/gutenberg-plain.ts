import { beginsNumbered, isNumbered } from '../text/chapters.ts';
import type { Piece } from '../text/piece.ts';
import type { Stage } from '../text/stage.ts';
import { hasWord, wordKey } from '../text/unicode.ts';
import {
  CONTENTS_NOTE,
  Held,
  MaybeContents,
  NOTES_NOTE,
  type NoteKind,
  namesContents,
  noteKind,
  type Origin,
} from './gutenberg-parts.ts';

/** UTF-16 units. A longer paragraph is neither a title nor an entry. */
const LONGEST_BLOCK = 2000;
/** Line breaks in front of a title, and of what is not a part of the table of contents. */
const [BEFORE_TITLE, BEFORE_BODY] = [3, 4] as const;

const PARTS =
  /^\W*(?:(?:author|editor|translator|publisher)['’]s (?:note|preface)|preface|prologue|epilogue|introduction|introductory|foreword|afterword|conclusion|dedication|postscript|appendix(?: [A-Z\d]{1,4})?|glossary|footnotes|notes|bibliography|index|vorwort|nachwort|einleitung|pr[ée]face|avant-propos|[ée]pilogue|prólogo|epílogo|introducción)\W*$/iu;
/** Above chapters. */
const DIVISION = /^(?:book|part|volume|act|buch|teil|band|livre|partie|tome|libro|parte)\b/iu;

/** Plain text in paragraphs: its chapters, and what of it is left out. */
export class PlainText implements Stage<Piece, Piece> {
  readonly #origin: Origin;
  readonly #onRemark: (remark: string) => void;
  readonly #hasChapters: boolean;
  readonly #held = new Held();
  /** A paragraph is given out before its end. */
  #isOpen = false;
  #note: NoteKind | undefined;
  /** The table of contents, while it may be one. */
  #contents: MaybeContents | undefined;
  /** Titles that the table of contents names. */
  readonly #titles = new Set<string>();
  /** The last paragraph was the number of a chapter. */
  #isNumbered = false;
  #isFirst = true;

  constructor(origin: Origin, onRemark: (remark: string) => void, hasChapters: boolean) {
    this.#origin = origin;
    this.#onRemark = onRemark;
    this.#hasChapters = hasChapters;
  }

  *push(piece: Piece): Generator<Piece> {
    if (!this.#origin.isFound) return yield piece;
    this.#held.add(piece);
    if (piece.kind !== 'text') return yield* this.#block();
    for (;;) {
      const end = /\S[^\S\n]*\n[^\S\n]*\n/u.exec(this.#held.text);
      if (!end) break;
      yield* this.#block(end.index + 1);
    }
    if (this.#held.text.length <= LONGEST_BLOCK) return;
    yield* this.#block();
    this.#isOpen = true;
  }

  *end(): Generator<Piece> {
    yield* this.#block();
    yield* this.#endContents();
  }

  /** @param length UTF-16 units of what is held */
  *#block(length = this.#held.text.length): Generator<Piece> {
    const text = this.#held.text.slice(0, length);
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    const gap = /^\s*/u.exec(text)?.[0] ?? '';
    const before = this.#held.take(gap.length);
    const pieces = this.#held.take(length - gap.length);
    const breaks = gap.split('\n').length - 1;
    if (wasOpen || !hasWord(text)) return yield* this.#give([...before, ...pieces]);
    const content = text.trim();
    const space = this.#isFirst ? BEFORE_BODY : breaks;
    this.#isFirst = false;
    if (this.#isPartOfNote(content, space)) return;
    const isAfterContents = this.#contents !== undefined;
    if (yield* this.#isPartOfContents([...before, ...pieces], content, breaks)) return;
    const isTitle = this.#hasChapters && this.#isTitle(content, isAfterContents ? BEFORE_BODY : space);
    if (!isTitle) return yield* this.#give([...before, ...pieces]);
    const heading = { kind: 'heading', level: DIVISION.test(content) ? 1 : 2 } as const;
    yield* this.#give([...before, heading, ...pieces, heading]);
  }

  *#give(pieces: readonly Piece[]): Generator<Piece> {
    if (this.#contents) this.#contents.pieces.push(...pieces);
    else yield* pieces;
  }

  #isPartOfNote(content: string, breaks: number): boolean {
    const kind = this.#contents ? undefined : noteKind(content);
    if (kind) {
      this.#onRemark(NOTES_NOTE);
      this.#note = kind === 'paragraph' ? undefined : kind;
      return true;
    }
    if (this.#note === undefined) return false;
    if (this.#note === 'bracket') {
      if (/\]\W*$/u.test(content)) this.#note = undefined;
      return true;
    }
    // The first paragraph below the label may have some space above it.
    const isOver = breaks >= BEFORE_BODY || (this.#note === 'paragraph' && breaks >= BEFORE_TITLE);
    this.#note = isOver ? undefined : 'paragraph';
    return !isOver;
  }

  *#isPartOfContents(pieces: readonly Piece[], content: string, breaks: number): Generator<Piece, boolean> {
    const [title = '', ...lines] = content.split('\n');
    if (namesContents(title)) {
      yield* this.#endContents();
      this.#contents = new MaybeContents(pieces);
      this.#contents.add(lines.join('\n'));
      return true;
    }
    const contents = this.#contents;
    if (!contents) return false;
    if ((contents.entries.length > 0 && breaks >= BEFORE_BODY) || contents.isOverAt(content)) {
      yield* this.#endContents();
      return false;
    }
    contents.pieces.push(...pieces);
    contents.add(content);
    return true;
  }

  *#endContents(): Generator<Piece> {
    const contents = this.#contents;
    this.#contents = undefined;
    if (!contents) return;
    if (contents.isWhole) {
      this.#onRemark(CONTENTS_NOTE);
      for (const entry of contents.entries) this.#titles.add(entry);
    }
    yield* contents.rest();
  }

  #isTitle(content: string, breaks: number): boolean {
    const wasNumbered = this.#isNumbered;
    this.#isNumbered = false;
    if (content.length > 200 || content.split('\n').length > 4) return false;
    const key = wordKey(content);
    const isCapital = !/\p{Ll}/u.test(content) && /\p{Lu}/u.test(content);
    if (wasNumbered && (isCapital || this.#titles.has(key))) return true;
    const isNumber = isNumbered(content.replace(/\s+/gu, ' '));
    const isNamed = isNumber || beginsNumbered(content) || PARTS.test(content) || this.#titles.has(key);
    if (breaks < BEFORE_TITLE || !isNamed) return false;
    this.#isNumbered = isNumber;
    return true;
  }
}
