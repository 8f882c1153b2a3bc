import { type TtsError, usageError } from '../kit/error.ts';
import { type Piece, placeAfter, type TextPiece, writtenOf } from './piece.ts';
import type { Stage } from './stage.ts';
import { hasWord } from './unicode.ts';

/** The lowest heading that begins a chapter, unless the first one is lower. */
const LOWEST_CHAPTER = 2;

/** Begins a chapter in front of each heading of the two highest levels. */
export class HeadingChapters implements Stage<Piece, Piece> {
  #lowest: number | undefined;
  /** The pieces of a heading that begins a chapter, until the heading ends; `undefined` elsewhere. */
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

/** Placeholders of marks, which are private-use characters, may follow it. */
const FULL_STOP = /(?<![.。।])[.。।](?=[ \p{Co}]*$)/u;

/** Readers give a heading a full stop. */
function titleOf(text: string): string | undefined {
  const title = text.replace(/\s+/gu, ' ').trim();
  return title.replace(FULL_STOP, '') || undefined;
}

/** UTF-16 units. A longer first line is not a title. */
const LONGEST_TITLE = 100;

/**
 * Begins a chapter after each form feed, and at the start of a text that is known to have one. The first line of a chapter is
 * its title, if it is short.
 */
export class PageChapters implements Stage<Piece, Piece> {
  readonly #facts: { readonly hasLaterPages: boolean };
  /** The pieces of a page whose first line is not complete; `undefined` after it. */
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

/** A voice goes on to speak in the chapters that follow. */
function voicesOf(pieces: readonly Piece[]): Piece[] {
  return pieces.filter(({ kind }) => kind === 'voice');
}

function noSuchChapter(wanted: number, count: number): TtsError {
  const has = count === 0 ? 'the text has no chapters' : `the text has ${count} of them`;
  return usageError(`--chapters: there is no chapter ${wanted}: ${has}`, '--dry-run lists the chapters');
}

/** UTF-16 units. A longer block is not a title. */
const LONGEST_TITLE_LINE = 1000;

/** Skips the titles of chapters: headings at the start of a chapter, and blocks that repeat its title. */
export class UntitledChapters implements Stage<Piece, Piece> {
  /** The words of the title that have not come yet; `undefined` after the title. */
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
    if (this.#length > LONGEST_TITLE_LINE) yield* this.#release();
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

  /** Decides whether the block that is held is a part of the title. */
  *#judge(): Generator<Piece> {
    const words = wordsOf(textOf(this.#held));
    if (words !== '' && ` ${this.#left ?? ''} `.includes(` ${words} `)) this.#leaveOut();
    else if (words !== '' || this.#length > LONGEST_TITLE_LINE) yield* this.#release();
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
