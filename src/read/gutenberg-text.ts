import { inOneLine } from '../kit/words.ts';
import { beginsNumbered, isNumbered } from '../text/chapters.ts';
import { EMPTY_LINE, type Piece, placeAfter, type TextPiece, writtenOf } from '../text/piece.ts';
import type { Stage } from '../text/stage.ts';
import { hasWord, wordKey } from '../text/unicode.ts';

/** UTF-16 units. A longer paragraph is neither a title nor an entry. */
const LONGEST_BLOCK = 2000;
/** UTF-16 units. */
const LONGEST_TITLE = 200;
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
  readonly #contents: Contents;
  /** The last paragraph was the number of a chapter. */
  #isNumbered = false;
  #isFirst = true;

  constructor(origin: Origin, onRemark: (remark: string) => void, hasChapters: boolean) {
    this.#origin = origin;
    this.#onRemark = onRemark;
    this.#hasChapters = hasChapters;
    this.#contents = new Contents(onRemark);
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
    yield* this.#contents.end();
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
    if (wasOpen || !hasWord(text)) return yield* this.#contents.give([...before, ...pieces]);
    const content = text.trim();
    const space = this.#isFirst ? BEFORE_BODY : breaks;
    this.#isFirst = false;
    const isAfterContents = this.#contents.isOpen;
    if (this.#contents.hasEntries && breaks >= BEFORE_BODY) yield* this.#contents.end();
    if (this.#isPartOfNote(content, space)) return;
    if (yield* this.#isPartOfContents([...before, ...pieces], content)) return;
    const isTitle = this.#hasChapters && this.#isTitle(content, isAfterContents ? BEFORE_BODY : space);
    if (!isTitle) return yield* this.#contents.give([...before, ...pieces]);
    const heading = { kind: 'heading', level: DIVISION.test(content) ? 1 : 2 } as const;
    yield* this.#contents.give([...before, heading, ...pieces, heading]);
  }

  #isPartOfNote(content: string, breaks: number): boolean {
    const kind = this.#contents.isOpen ? undefined : noteKind(content);
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

  *#isPartOfContents(pieces: readonly Piece[], content: string): Generator<Piece, boolean> {
    const [title = '', ...lines] = content.split('\n');
    if (namesContents(title)) {
      yield* this.#contents.end();
      this.#contents.begin(pieces);
      this.#contents.add(lines.join('\n'));
      return true;
    }
    const contents = this.#contents;
    if (!contents.isOpen) return false;
    if (contents.isOverAt(content)) {
      yield* this.#contents.end();
      return false;
    }
    yield* contents.give(pieces);
    contents.add(content);
    return true;
  }

  #isTitle(content: string, breaks: number): boolean {
    const wasNumbered = this.#isNumbered;
    this.#isNumbered = false;
    if (content.length > LONGEST_TITLE || content.split('\n').length > 4) return false;
    const line = inOneLine(content);
    const isListed = entriesOf(line).some((entry) => this.#contents.titles.has(entry));
    if (wasNumbered && (isCapital(content) || isListed)) return true;
    const isNumber = isNumbered(line);
    const isNamed = isNumber || beginsNumbered(content) || PARTS.test(content) || isListed;
    if (breaks < BEFORE_TITLE || !isNamed) return false;
    this.#isNumbered = isNumber;
    return true;
  }
}

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
  readonly #contents: Contents;
  /** The beginning of a heading whose text has not come. */
  #heading: Piece | undefined;
  #isInHeading = false;
  #isBlockStart = true;

  constructor(origin: Origin, onRemark: (remark: string) => void) {
    this.#origin = origin;
    this.#onRemark = onRemark;
    this.#contents = new Contents(onRemark);
  }

  *push(piece: Piece): Generator<Piece> {
    if (!this.#origin.isFound) yield piece;
    else if (piece.kind === 'text') yield* this.#text(piece);
    else if (piece.kind === 'heading') yield* this.#turn(piece);
    else yield* this.#border(piece);
  }

  *end(): Generator<Piece> {
    yield* this.#contents.end();
    if (this.#heading) yield this.#heading;
  }

  *#border(piece: Piece): Generator<Piece> {
    if (piece.kind === 'voice' || piece.kind === 'pause') return yield* this.#contents.give([piece]);
    this.#isBlockStart = true;
    const isSkipped = this.#skipped !== undefined;
    if (piece.kind === 'chapter' || (piece.kind === 'scene' && this.#contents.isWhole))
      yield* this.#contents.end();
    if (this.#skipped === 'block' || piece.kind !== 'paragraph') this.#skipped = undefined;
    if (!isSkipped || piece.kind === 'chapter') yield* this.#contents.give([piece]);
  }

  *#turn(piece: Piece): Generator<Piece> {
    this.#isBlockStart = true;
    this.#isInHeading = !this.#isInHeading;
    if (this.#isInHeading) {
      yield* this.#contents.end();
      this.#heading = piece;
      this.#skipped = undefined;
    } else if (this.#skipped === undefined) {
      if (this.#heading) yield* this.#contents.give([this.#heading]);
      this.#heading = undefined;
      yield* this.#contents.give([piece]);
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
      if (heading) yield* this.#contents.give([heading]);
      return yield* this.#contents.give([piece]);
    }
    this.#left -= text.length;
    if (this.#skipped === 'bracket' && /\]\s*$/u.test(text)) this.#skipped = 'block';
    else if (this.#left < 0) this.#skipped = 'block';
  }

  *#beginNote(kind: NoteKind): Generator<Piece> {
    yield* this.#contents.end();
    this.#onRemark(NOTES_NOTE);
    this.#left = this.#heading ? Number.POSITIVE_INFINITY : LONGEST_NOTE;
    this.#skipped = this.#heading || kind === 'line' ? 'section' : kind === 'bracket' ? 'bracket' : 'block';
    this.#heading = undefined;
  }

  *#lookForContents(text: string, isFirst: boolean): Generator<Piece> {
    const content = text.trim();
    if (isFirst && namesContents(content)) {
      yield* this.#contents.end();
      this.#contents.begin([]);
    } else if (this.#contents.isOverAt(content)) yield* this.#contents.end();
    else if (this.#contents.isOpen && !this.#isInHeading) this.#contents.add(content);
  }
}

/** Where a book is known to be one of Project Gutenberg. */
interface Origin {
  readonly isFound: boolean;
}

/** Pieces that are not decided on. */
export class Held {
  text = '';
  #pieces: Piece[] = [];

  add(piece: Piece): void {
    this.#pieces.push(piece);
    this.text += asText(piece);
  }

  /** @returns the pieces of the beginning, of this length in UTF-16 units; only a text is cut */
  take(length: number): readonly Piece[] {
    let [at, left] = [0, length];
    for (; at < this.#pieces.length; at += 1) {
      const units = asText(this.#pieces[at] as Piece).length;
      if (units > left) break;
      left -= units;
    }
    const taken = this.#pieces.splice(0, at);
    const [next] = this.#pieces;
    const isCut = left > 0 && next?.kind === 'text';
    this.text = this.text.slice(isCut ? length : length - left);
    if (!isCut) return taken;
    const text = next.text.slice(0, left);
    this.#pieces[0] = { ...next, text: next.text.slice(left), place: placeAfter(next.place, text) };
    return [...taken, { ...next, text }];
  }

  /** Drops what separates the text from what was in front of it, and the end of a heading that was taken. */
  dropBorders(isInHeading: boolean): void {
    let isOpen = isInHeading;
    for (;;) {
      const [next] = this.#pieces;
      const isEnd = next?.kind === 'heading' && isOpen;
      if (!next || !(isEnd || next.kind === 'paragraph' || next.kind === 'scene')) return;
      if (isEnd) isOpen = false;
      this.take(asText(next).length);
    }
  }

  all(): readonly Piece[] {
    return this.take(this.text.length);
  }
}

function asText(piece: Piece): string {
  return piece.kind === 'heading' || piece.kind === 'scene' || piece.kind === 'chapter'
    ? EMPTY_LINE
    : writtenOf(piece);
}

/** What a note of the transcriber begins with, in the languages of the books. */
const NOTE =
  /^[\s[({*+|_=~:-]*(?:original )?(?:transcriber(?:['’]?s|s['’])? (?:end)?notes?|transcription notes?|notes? (?:by|from|of) the transcriber|anmerkung(?:en)? (?:zur|der) transkription|anmerkungen des bearbeiters|notes? (?:du|de la|sur la) transcript(?:eur|rice|ion)|notas? d(?:el|a|o) transcri\p{L}+|opmerkingen van de bewerker)\b/iu;
/** UTF-16 units besides the label. A longer first paragraph is all of the note. */
const LONGEST_LABEL = 12;

const NOTES_NOTE = 'left out: the notes of the transcriber; --all reads them';

type NoteKind = 'line' | 'bracket' | 'paragraph';

/** @returns `line` for a title that stands alone; `undefined` for what is not a note */
function noteKind(text: string): NoteKind | undefined {
  const [label = ''] = NOTE.exec(text) ?? [];
  if (label === '') return undefined;
  if (/^\s*\[/u.test(label) && !/\]\W*$/u.test(text)) return 'bracket';
  return text.trim().length - label.trim().length <= LONGEST_LABEL ? 'line' : 'paragraph';
}

/** The title of a table of contents, in the languages of the books. */
const CONTENTS =
  /^\W*(?:(?:table of |the )?contents(?: of (?:vol(?:ume|\.)|part|book)\b.{0,20})?|(?:list of )?illustrations|inhalt(?:sverzeichnis)?|table(?: des (?:mati[eè]res|chapitres))?|(?:tabla de )?contenidos?|[ií]ndice(?: (?:general|generale))?|inhoud(?:sopgave)?|sis[aä]llys(?:luettelo)?|inneh[aå]ll|indhold|tartalom|spis tre[sś]ci|obsah)\W*$/iu;

/** True for the title of a table of contents or of a list of pictures. */
function namesContents(text: string): boolean {
  return text.length <= 60 && CONTENTS.test(text);
}

/** UTF-16 units. A longer table of contents is text. */
const LONGEST_CONTENTS = 65_536;
const FEWEST_ENTRIES = 2;
const CONTENTS_NOTE = 'left out: the table of contents; --all reads it';

/** A table of contents, while it may be one. Where none is open, pieces pass. */
class Contents {
  /** Of chapters, as {@link wordKey} has them, in all tables so far. */
  readonly titles = new Set<string>();
  readonly #onRemark: (remark: string) => void;
  #pieces: Piece[] | undefined;
  #entries: string[] = [];
  #lines = 0;
  #length = 0;

  constructor(onRemark: (remark: string) => void) {
    this.#onRemark = onRemark;
  }

  get isOpen(): boolean {
    return this.#pieces !== undefined;
  }

  get hasEntries(): boolean {
    return this.isOpen && this.#entries.length > 0;
  }

  get isWhole(): boolean {
    return this.isOpen && this.#lines >= FEWEST_ENTRIES;
  }

  /** @param pieces those of its title */
  begin(pieces: readonly Piece[]): void {
    this.#pieces = [...pieces];
    [this.#entries, this.#lines, this.#length] = [[], 0, 0];
  }

  *give(pieces: readonly Piece[]): Generator<Piece> {
    if (this.#pieces) this.#pieces.push(...pieces);
    else yield* pieces;
  }

  add(content: string): void {
    const lines = (isWrapped(content) ? [inOneLine(content)] : content.split('\n')).map(entriesOf);
    this.#entries.push(...lines.flat());
    this.#lines += lines.filter(({ length }) => length > 0).length;
    this.#length += content.length;
  }

  /** @returns true for a block that is not one more part of it */
  isOverAt(content: string): boolean {
    const isRepeated = this.isWhole && wordKey(content) === this.#entries[0];
    return this.isOpen && (isRepeated || !isEntry(content) || this.#length > LONGEST_CONTENTS);
  }

  /** Gives out what remains of it. */
  *end(): Generator<Piece> {
    const [pieces, isWhole] = [this.#pieces ?? [], this.isWhole];
    this.#pieces = undefined;
    if (!isWhole) return yield* pieces;
    this.#onRemark(CONTENTS_NOTE);
    for (const entry of this.#entries) this.titles.add(entry);
    yield* pieces.filter(({ kind }) => kind === 'chapter' || kind === 'voice' || kind === 'pause');
  }
}

/** Prose is wrapped, and so are some titles, which say that they are one. */
function isEntry(content: string): boolean {
  if (isWrapped(content))
    return content.length <= LONGEST_TITLE && (beginsNumbered(content) || isCapital(content));
  return content.split('\n').every((line) => line.trim().length <= 120);
}

/** True if all lines but the last are long. */
function isWrapped(content: string): boolean {
  const lines = content.split('\n').map((line) => line.trim());
  return lines.length > 1 && lines.slice(0, -1).every((line) => line.length > 55 && !/\d$/u.test(line));
}

function isCapital(text: string): boolean {
  return !/\p{Ll}/u.test(text) && /\p{Lu}/u.test(text);
}

/** An entry as the title of its chapter is compared: with its number, and without. */
function entriesOf(line: string): readonly string[] {
  const text = line.replace(/[\s._]*\s(?:\d{1,4}|[ivxlc]{1,6})\s*$/u, '');
  const key = wordKey(text);
  if (!hasWord(key)) return [];
  const name = wordKey(text.replace(/^\s*(?:\p{L}+\s+)?(?:[IVXLC]+|\d{1,3})[.:)—–-]?\s+/u, ''));
  return name === key || name === '' ? [key] : [key, name];
}
