import { type TtsError, usageError } from '../kit/error.ts';
import { endsSentence } from './marks.ts';
import { type Piece, placeAfter, type TextPiece, writtenOf } from './piece.ts';
import type { Stage } from './stage.ts';
import { hasWord, wordKey } from './unicode.ts';

/** Lowest heading level that begins a chapter, unless the text's first heading is lower or only lower ones divide it. */
const LOWEST_CHAPTER = 2;
/** The lowest level of headings. */
const LOWEST_LEVEL = 6;
/** A level does not divide a text if one of its chapters would hold more than this share of it. */
const LARGEST_SHARE = 0.9;

/**
 * Returns the lowest level of headings that begin chapters: the highest level that divides the text, which a book's title
 * alone does not do.
 * @returns `undefined` for a text without headings
 */
export async function chapterLevelOf(pieces: AsyncIterable<Piece>): Promise<number | undefined> {
  let [isInside, first, units] = [false, undefined as number | undefined, 0];
  const levels = new Set<number>();
  /** By level: where the current chapter began, and the length of the longest one, in UTF-16 units. */
  const begun = Array<number>(LOWEST_LEVEL + 1).fill(0);
  const longest = Array<number>(LOWEST_LEVEL + 1).fill(0);
  const end = (level: number) => {
    longest[level] = Math.max(longest[level] ?? 0, units - (begun[level] ?? 0));
    begun[level] = units;
  };
  for await (const piece of pieces) {
    if (piece.kind === 'text') units += piece.text.length;
    if (piece.kind !== 'heading') continue;
    isInside = !isInside;
    if (!isInside) continue;
    first ??= piece.level;
    levels.add(piece.level);
    for (let level = piece.level; level <= LOWEST_LEVEL; level += 1) end(level);
  }
  if (first === undefined) return undefined;
  for (let level = 1; level <= LOWEST_LEVEL; level += 1) end(level);
  const usual = Math.max(LOWEST_CHAPTER, first);
  const dividing = [...levels].sort().find((level) => (longest[level] ?? 0) <= units * LARGEST_SHARE);
  return Math.max(usual, dividing ?? usual);
}

/** Most consecutive headings that title one chapter; more of them are its text. */
const MOST_TITLES = 12;

/**
 * Begins a chapter before each heading of the two highest levels. Consecutive headings begin one chapter, named by the last
 * of them; a heading that is only a number is joined with the next one.
 */
export class HeadingChapters implements Stage<Piece, Piece> {
  #lowest: number | undefined;
  /** Pieces between the beginning of a chapter and its text, held until its title is known. */
  #held: Piece[] | undefined;
  #titles: Title[] = [];
  /** Text of the heading being read; `undefined` outside a heading. */
  #heading: string | undefined;
  /** UTF-16 units of held text outside headings. */
  #length = 0;
  /** True if that text contains a sentence end. */
  #isSaid = false;

  /** @param lowest the result of {@link chapterLevelOf}, if known */
  constructor(lowest?: number) {
    this.#lowest = lowest;
  }

  *push(piece: Piece): Generator<Piece> {
    if (piece.kind === 'chapter') yield* this.#release();
    if (piece.kind === 'heading' && this.#heading === undefined) yield* this.#begin(piece.level);
    else if (piece.kind === 'heading') this.#endHeading(piece.level);
    else if (piece.kind === 'text' && this.#heading !== undefined) this.#heading += piece.text;
    else if (piece.kind === 'text' && this.#held && hasWord(piece.text)) this.#see(piece.text.trim());
    if (!this.#held) return yield piece;
    this.#held.push(piece);
    const isOver = this.#length > 0 && this.#length >= (this.#titles.at(-1)?.text ?? '').length;
    if (this.#heading === undefined && (isOver || this.#titles.length > MOST_TITLES)) yield* this.#release();
  }

  *end(): Generator<Piece> {
    yield* this.#release();
  }

  *#begin(level: number): Generator<Piece> {
    this.#heading = '';
    if (!this.#isChapter(level)) return;
    // A line below a book's title, such as the author's name, does not make a chapter of the title.
    const isBelow = level > (this.#titles.at(-1)?.level ?? level);
    if (this.#isSaid && !isBelow) yield* this.#release();
    [this.#length, this.#isSaid] = [0, false];
    this.#held ??= [];
  }

  #see(text: string): void {
    this.#length += text.length;
    this.#isSaid ||= endsSentence(text);
  }

  #endHeading(level: number): void {
    const text = titleOf(this.#heading ?? '');
    this.#heading = undefined;
    if (!this.#held || text === undefined) return;
    const last = this.#titles.at(-1);
    const isTitle = last?.isNumber && this.#length === 0;
    if (this.#isChapter(level) || isTitle) this.#titles.push({ text, level, isNumber: isNumbered(text) });
  }

  *#release(): Generator<Piece> {
    const held = this.#held;
    const titles = this.#titles;
    this.#held = undefined;
    this.#titles = [];
    [this.#length, this.#isSaid] = [0, false];
    if (!held) return;
    const named = titles.slice(titles.slice(0, -1).findLastIndex(({ isNumber }) => !isNumber) + 1);
    const title = named.reduce(
      (so, { text }) => (so === '' ? text : `${so}${/[:.!?–—-]$/u.test(so) ? '' : '.'} ${text}`),
      '',
    );
    yield { kind: 'chapter', title: title || undefined, level: named[0]?.level ?? 1 };
    yield* held;
  }

  /** If the first heading is low, headings of its level begin chapters. */
  #isChapter(level: number): boolean {
    this.#lowest ??= Math.max(LOWEST_CHAPTER, level);
    return level <= this.#lowest;
  }
}

interface Title {
  readonly text: string;
  readonly level: number;
  /** True if the title is only a chapter number. */
  readonly isNumber: boolean;
}

const UNIT =
  /^(?:chapter|chap\.?|part|book|volume|vol\.?|section|canto|stave|letter|act|scene|lecture|lesson|kapitel|teil|buch|band|abschnitt|akt|szene|chapitre|partie|livre|tome|acte|sc[eè]ne|cap[ií]tulo|parte|libro|capitolo|hoofdstuk|deel|luku|osa|rozdzia[lł]|kapitola|глава|часть|книга)\s+/iu;
const NUMBER =
  /^(?:\d{1,4}|(?=[ivxlc])c{0,4}(?:xc|xl|l?x{0,4})(?:ix|iv|v?i{0,4})|(?:the )?(?:(?:twen|thir|for|fif)ty[- ]?)?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last))$/iu;

/** True for the title of a chapter that is only its number: `IV`, `Chapter 4`, `PART THE FIRST`. */
export function isNumbered(title: string): boolean {
  const text = title.replace(/(?<![\s.:)\]—–-])[\s.:)\]—–-]+$/u, '').replace(/^[[(\s—–-]+/u, '');
  return (
    NUMBER.test(text.replace(UNIT, '')) ||
    /^第?[\d〇一二三四五六七八九十百]{1,4}[章回部話话编編節节]?$/u.test(text)
  );
}

/** True for a title that begins with the number of a chapter: `Chapter 4. The Storm`. */
export function beginsNumbered(title: string): boolean {
  const [unit = ''] = UNIT.exec(title) ?? [];
  const [word = ''] = /^(?:the )?[^\s.:—–]+/iu.exec(title.slice(unit.length)) ?? [];
  return unit !== '' && isNumbered(word);
}

/** A full stop at the end, which placeholders of marks (private-use characters) may follow. */
const FULL_STOP = /(?<![.。।])[.。।](?=[ \p{Co}]*$)/u;

/** Removes the full stop that readers add to headings. */
function titleOf(text: string): string | undefined {
  const title = text.replace(/\s+/gu, ' ').trim();
  return title.replace(FULL_STOP, '') || undefined;
}

/** UTF-16 units. A longer first line of a page is not a title. */
const LONGEST_TITLE = 100;

/**
 * Begins a chapter after each form feed, and at the start of a text that has one. A short first line is the chapter's title.
 */
export class PageChapters implements Stage<Piece, Piece> {
  readonly #facts: { readonly hasLaterPages: boolean };
  /** Pieces of a page while its first line is incomplete; `undefined` after that line. */
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

/** The first and last chapter of a range, both included, from 1. */
export type ChapterRange = readonly [first: number, last: number];

type Chapter = Extract<Piece, { kind: 'chapter' }>;

/** Passes on only the chapters that the user picked. Chapters without a word are not counted. */
export class PickedChapters implements Stage<Piece, Piece> {
  readonly #ranges: readonly ChapterRange[];
  /** Pieces between the start of a chapter and its first word. */
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

/** Keeps the voice marks of text that is left out, which also apply to later text. */
function voicesOf(pieces: readonly Piece[]): Piece[] {
  return pieces.filter(({ kind }) => kind === 'voice');
}

function noSuchChapter(wanted: number, count: number): TtsError {
  const has = count === 0 ? 'the text has no chapters' : `the text has ${count} of them`;
  return usageError(`--chapters: there is no chapter ${wanted}: ${has}`, '--dry-run lists the chapters');
}

/** UTF-16 units. A longer block does not repeat a title. */
const LONGEST_TITLE_LINE = 1000;

/** Removes chapter titles from the text: headings and other blocks at the start of a chapter that repeat its title. */
export class UntitledChapters implements Stage<Piece, Piece> {
  /** Words of the title that were not repeated yet; `undefined` once the chapter's own text has begun. */
  #left: string | undefined;
  #held: Piece[] = [];
  /** UTF-16 units held, plus one per piece, as marks have no text. */
  #length = 0;
  #isInHeading = false;

  *push(piece: Piece): Generator<Piece> {
    if (piece.kind === 'chapter') {
      yield* this.#judge();
      this.#left = wordKey(piece.title ?? '');
      return yield piece;
    }
    if (this.#left === undefined) return yield piece;
    if (piece.kind === 'heading' && this.#isInHeading) return yield* this.#drop();
    if (piece.kind === 'text' && !this.#isInHeading) return yield* this.#lines(piece);
    if (this.#isInHeading) return yield* this.#hold(piece);
    yield* this.#judge();
    if (piece.kind !== 'heading' || this.#left === undefined) return yield piece;
    this.#isInHeading = true;
    yield* voicesOf(this.#take());
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

  /** Judges the first line of plain text, which may be the title. */
  *#lines({ text, place, ...piece }: TextPiece): Generator<Piece> {
    const [first = ''] = /^\s*\S[^\n]*\n\s*/u.exec(text) ?? [];
    if (first === '') return yield* this.#hold({ ...piece, text, place });
    this.#add({ ...piece, text: first, place });
    yield* this.#judge();
    if (first.length < text.length)
      yield* this.push({ ...piece, text: text.slice(first.length), place: placeAfter(place, first) });
  }

  /** Drops the held block if it is a part of the title, and emits it otherwise. */
  *#judge(): Generator<Piece> {
    const words = wordKey(textOf(this.#held));
    if (words !== '' && ` ${this.#left ?? ''} `.includes(` ${words} `)) yield* this.#drop();
    else if (words !== '' || this.#length > LONGEST_TITLE_LINE) yield* this.#release();
  }

  *#release(): Generator<Piece> {
    this.#left = undefined;
    this.#isInHeading = false;
    yield* this.#take();
  }

  *#drop(): Generator<Piece> {
    const held = this.#take();
    const words = wordKey(textOf(held));
    this.#left = ` ${this.#left ?? ''} `.replace(` ${words} `, ' ').trim();
    this.#isInHeading = false;
    yield* voicesOf(held);
  }
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
}
