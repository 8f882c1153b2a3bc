/** The chapters, notes and tables of contents in Project Gutenberg's plain texts, pages and EPUBs. */
import { inOneLine } from '../kit/words.ts';
import { beginsNumbered, isNumbered } from '../text/chapters.ts';
import { EMPTY_LINE, type Piece, placeAfter, type TextPiece, writtenOf } from '../text/piece.ts';
import type { Stage } from '../text/stage.ts';
import { hasWord, wordKey } from '../text/unicode.ts';
import type { PlainOptions } from './reading.ts';

/** UTF-16 units. A longer paragraph is neither a title nor a table of contents. */
const LONGEST_BLOCK = 2000;
/** UTF-16 units. */
const LONGEST_TITLE = 200;
/** Line breaks before a title, and before text that ends a table of contents. */
const [BEFORE_TITLE, BEFORE_BODY] = [3, 4] as const;

const PARTS =
  /^\W*(?:(?:author|editor|translator|publisher)['’]s (?:note|preface)|preface|prologue|epilogue|introduction|introductory|foreword|afterword|conclusion|dedication|postscript|appendix(?: [A-Z\d]{1,4})?|glossary|footnotes|notes|bibliography|index|vorwort|nachwort|einleitung|pr[ée]face|avant-propos|[ée]pilogue|prólogo|epílogo|introducción)\W*$/iu;
/** Divisions above chapters. */
const DIVISION = /^(?:book|part|volume|act|buch|teil|band|livre|partie|tome|libro|parte)\b/iu;

/** Finds chapters in a plain-text book, and leaves out its notes and table of contents. */
export class PlainText implements Stage<Piece, Piece> {
  readonly #origin: Origin;
  readonly #hasChapters: boolean;
  readonly #held = new PieceBuffer();
  /** True if the beginning of a long paragraph was already emitted. */
  #isOpen = false;
  readonly #notes: Notes;
  readonly #contents: Contents;
  /** True if the last paragraph was the number of a chapter. */
  #isNumbered = false;
  #isFirst = true;

  constructor(origin: Origin, onRemark: (remark: string) => void, options: PlainBookOptions) {
    this.#origin = origin;
    this.#hasChapters = options.hasChapters;
    this.#notes = new Notes(onRemark, options);
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

  /** @param length UTF-16 units of the held text */
  *#block(length = this.#held.text.length): Generator<Piece> {
    const text = this.#held.text.slice(0, length);
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    const gap = /^\s*/u.exec(text)?.[0] ?? '';
    const before = this.#held.take(gap.length);
    const pieces = this.#notes.withoutReferences(this.#held.take(length - gap.length));
    const breaks = gap.split('\n').length - 1;
    if (wasOpen && this.#notes.takesRest(text)) return;
    if (wasOpen || !hasWord(text)) return yield* this.#contents.pass([...before, ...pieces]);
    const content = text.trim();
    const space = this.#isFirst ? BEFORE_BODY : breaks;
    this.#isFirst = false;
    const isAfterContents = this.#contents.isOpen;
    if (this.#contents.hasEntries && breaks >= BEFORE_BODY) yield* this.#contents.end();
    if (this.#notes.takes(content, space, this.#contents.isOpen)) return;
    if (yield* this.#isPartOfContents([...before, ...pieces], content)) return;
    const isTitle = this.#hasChapters && this.#isTitle(content, isAfterContents ? BEFORE_BODY : space);
    if (!isTitle) return yield* this.#contents.pass([...before, ...pieces]);
    const heading = { kind: 'heading', level: DIVISION.test(content) ? 1 : 2 } as const;
    yield* this.#contents.pass([...before, heading, ...pieces, heading]);
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
    if (contents.endsAt(content)) {
      yield* this.#contents.end();
      return false;
    }
    yield* contents.pass(pieces);
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

/**
 * Leaves the transcriber's notes and the table of contents out of pages and EPUBs. They are recognised by a heading, or by
 * the first words of a block.
 */
export class MarkupText implements Stage<Piece, Piece> {
  readonly #origin: Origin;
  readonly #onRemark: (remark: string) => void;
  /** What is being left out: the current block, text up to a closing bracket, or text up to the next heading. */
  #skipped: 'block' | 'bracket' | 'section' | undefined;
  /** UTF-16 units that may still be left out. */
  #left = 0;
  readonly #contents: Contents;
  /** The start of a heading whose text has not come yet. */
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
    if (piece.kind === 'voice' || piece.kind === 'pause') return yield* this.#contents.pass([piece]);
    this.#isBlockStart = true;
    const isSkipped = this.#skipped !== undefined;
    if (piece.kind === 'chapter' || (piece.kind === 'scene' && this.#contents.isProven))
      yield* this.#contents.end();
    if (this.#skipped === 'block' || piece.kind !== 'paragraph') this.#skipped = undefined;
    if (!isSkipped || piece.kind === 'chapter') yield* this.#contents.pass([piece]);
  }

  *#turn(piece: Piece): Generator<Piece> {
    this.#isBlockStart = true;
    this.#isInHeading = !this.#isInHeading;
    if (this.#isInHeading) {
      yield* this.#contents.end();
      this.#heading = piece;
      this.#skipped = undefined;
    } else if (this.#skipped === undefined) {
      if (this.#heading) yield* this.#contents.pass([this.#heading]);
      this.#heading = undefined;
      yield* this.#contents.pass([piece]);
    }
  }

  *#text(piece: TextPiece): Generator<Piece> {
    const { text } = piece;
    const isFirst = this.#isBlockStart && this.#skipped === undefined;
    const kind = isFirst ? noteKind(text, TRANSCRIBERS.label) : undefined;
    if (kind) yield* this.#beginNote(kind);
    else if (hasWord(text) && this.#skipped === undefined) yield* this.#lookForContents(text, isFirst);
    if (hasWord(text)) this.#isBlockStart = false;
    if (this.#skipped === undefined) {
      const heading = this.#heading;
      this.#heading = undefined;
      if (heading) yield* this.#contents.pass([heading]);
      return yield* this.#contents.pass([piece]);
    }
    this.#left -= text.length;
    if (this.#skipped === 'bracket' && /\]\s*$/u.test(text)) this.#skipped = 'block';
    else if (this.#left < 0) this.#skipped = 'block';
  }

  *#beginNote(kind: NoteKind): Generator<Piece> {
    yield* this.#contents.end();
    this.#onRemark(TRANSCRIBERS.remark);
    this.#left = this.#heading ? Number.POSITIVE_INFINITY : LONGEST_NOTE;
    this.#skipped = this.#heading || kind === 'line' ? 'section' : kind === 'bracket' ? 'bracket' : 'block';
    this.#heading = undefined;
  }

  *#lookForContents(text: string, isFirst: boolean): Generator<Piece> {
    const content = text.trim();
    if (isFirst && namesContents(content)) {
      yield* this.#contents.end();
      this.#contents.begin([]);
    } else if (this.#contents.endsAt(content)) yield* this.#contents.end();
    else if (this.#contents.isOpen && !this.#isInHeading) this.#contents.add(content);
  }
}

export type PlainBookOptions = Pick<PlainOptions, 'hasChapters' | 'readsNotes'>;

/** Tells whether a book is known to be one of Project Gutenberg. */
interface Origin {
  readonly isFound: boolean;
}

/** A buffer for pieces that are not decided on yet. */
export class PieceBuffer {
  text = '';
  #pieces: Piece[] = [];

  add(piece: Piece): void {
    this.#pieces.push(piece);
    this.text += asText(piece);
  }

  /** @returns the first pieces, of this length in UTF-16 units; only a text piece is cut */
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

  /** Drops the borders at the start of the text, and the end of a heading whose start was taken. */
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

/** The notes of a transcriber, by their labels in the languages of the books. */
const TRANSCRIBERS = {
  label:
    /^[\s[({*+|_=~:-]*(?:original )?(?:transcriber(?:['’]?s|s['’])? (?:end)?notes?|transcription notes?|notes? (?:by|from|of) the transcriber|anmerkung(?:en)? (?:zur|der) transkription|anmerkungen des bearbeiters|notes? (?:du|de la|sur la) transcript(?:eur|rice|ion)|notas? d(?:el|a|o) transcri\p{L}+|opmerkingen van de bewerker)\b/iu,
  remark: 'left out: the notes of the transcriber; --all reads them',
};
/** The footnotes of plain text. They stand behind their paragraph, or below a title at the end of a chapter. */
const FOOTNOTES = {
  label: /^\[(?:foot|end)note\b|^\W*(?:foot|end)notes\W*$/iu,
  remark: 'left out: the footnotes; --footnotes read reads them',
};
/** A reference to such a footnote, as in "word.[A]". References with numbers are left out of any plain text. */
const REFERENCE = /(?<=\S)\[[A-Z]\](?!\p{L})/gu;

/** UTF-16 units in addition to the label. A longer first paragraph is the whole note. */
const LONGEST_LABEL = 12;
/** UTF-16 units. A note whose label is not a heading ends after this many. */
const LONGEST_NOTE = 16_384;

/** How a note begins: with a label on its own line, with a bracket that is still open, or whole in one paragraph. */
type NoteKind = 'line' | 'bracket' | 'paragraph';

/** @returns `undefined` if the text is not a note */
function noteKind(text: string, labels: RegExp): NoteKind | undefined {
  const [label = ''] = labels.exec(text) ?? [];
  if (label === '') return undefined;
  const rest = text.slice(label.length).trim();
  if (!/^\s*\[/u.test(label)) return rest.length <= LONGEST_LABEL ? 'line' : 'paragraph';
  if (!/\]\W*$/u.test(text)) return 'bracket';
  return hasWord(rest) ? 'paragraph' : 'line';
}

/** Finds the notes of plain text, block by block. */
class Notes {
  readonly #onRemark: (remark: string) => void;
  readonly #readsNotes: boolean;
  /** The note that goes on with the next block. It is a `paragraph` when the first one behind its label has come. */
  #kind: NoteKind | undefined;
  /** UTF-16 units that a note in brackets may still have. */
  #left = 0;
  #hasTaken = false;

  constructor(onRemark: (remark: string) => void, { readsNotes }: PlainBookOptions) {
    this.#onRemark = onRemark;
    this.#readsNotes = readsNotes;
  }

  withoutReferences(pieces: readonly Piece[]): readonly Piece[] {
    const [first, ...others] = pieces;
    if (this.#readsNotes || first?.kind !== 'text') return pieces;
    const text = pieces.map(writtenOf).join('').replace(REFERENCE, '');
    return [{ ...first, text }, ...others.filter(({ kind }) => kind !== 'text')];
  }

  /**
   * @param breaks line breaks before the block
   * @returns true for a block that is part of a note
   */
  takes(content: string, breaks: number, isInContents: boolean): boolean {
    this.#hasTaken =
      (this.#kind !== undefined && !this.#endsBefore(content, breaks)) ||
      (!isInContents && this.#beginsWith(content));
    return this.#hasTaken;
  }

  /** @returns true for more text of such a block */
  takesRest(text: string): boolean {
    if (this.#hasTaken && this.#kind === 'bracket') this.#endsBefore(text, 0);
    return this.#hasTaken;
  }

  #endsBefore(content: string, breaks: number): boolean {
    if (this.#kind === 'bracket') {
      this.#left -= content.length;
      const isOver = breaks >= BEFORE_BODY || this.#left < 0;
      if (isOver || /\]\W*$/u.test(content)) this.#kind = undefined;
      return isOver;
    }
    // There may be extra space between the label and the first paragraph.
    const isOver = breaks >= BEFORE_BODY || (this.#kind === 'paragraph' && breaks >= BEFORE_TITLE);
    this.#kind = isOver ? undefined : 'paragraph';
    return isOver;
  }

  #beginsWith(content: string): boolean {
    for (const { label, remark } of this.#readsNotes ? [TRANSCRIBERS] : [TRANSCRIBERS, FOOTNOTES]) {
      const kind = noteKind(content, label);
      if (kind === undefined) continue;
      this.#onRemark(remark);
      this.#kind = kind === 'paragraph' ? undefined : kind;
      this.#left = LONGEST_NOTE;
      return true;
    }
    return false;
  }
}

/** Titles of a table of contents, in the languages of the books. */
const CONTENTS =
  /^\W*(?:(?:table of |the )?contents(?: of (?:vol(?:ume|\.)|part|book)\b.{0,20})?|(?:list of )?illustrations|inhalt(?:sverzeichnis)?|table(?: des (?:mati[eè]res|chapitres))?|(?:tabla de )?contenidos?|[ií]ndice(?: (?:general|generale))?|inhoud(?:sopgave)?|sis[aä]llys(?:luettelo)?|inneh[aå]ll|indhold|tartalom|spis tre[sś]ci|obsah)\W*$/iu;

/** True for the title of a table of contents or of a list of illustrations. */
export function namesContents(text: string): boolean {
  return text.length <= 60 && CONTENTS.test(text);
}

/** UTF-16 units. A longer table of contents is text. */
const LONGEST_CONTENTS = 65_536;
const FEWEST_ENTRIES = 2;
export const CONTENTS_REMARK = 'left out: the table of contents; --all reads it';

/** Holds the pieces of a table of contents until it is clear that it is one. While none is open, pieces pass through. */
class Contents {
  /** The chapter titles of all tables so far, as keys from {@link wordKey}. */
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

  get isProven(): boolean {
    return this.isOpen && this.#lines >= FEWEST_ENTRIES;
  }

  /** @param pieces the pieces of the title */
  begin(pieces: readonly Piece[]): void {
    this.#pieces = [...pieces];
    [this.#entries, this.#lines, this.#length] = [[], 0, 0];
  }

  *pass(pieces: readonly Piece[]): Generator<Piece> {
    if (this.#pieces) this.#pieces.push(...pieces);
    else yield* pieces;
  }

  add(content: string): void {
    const lines = (isWrapped(content) ? [inOneLine(content)] : content.split('\n')).map(entriesOf);
    this.#entries.push(...lines.flat());
    this.#lines += lines.filter(({ length }) => length > 0).length;
    this.#length += content.length;
  }

  /** @returns true for a block that no longer belongs to the table */
  endsAt(content: string): boolean {
    const isRepeated = this.isProven && wordKey(content) === this.#entries[0];
    return this.isOpen && (isRepeated || !isEntry(content) || this.#length > LONGEST_CONTENTS);
  }

  /** Ends the table. Its pieces are left out if it proved to be one. */
  *end(): Generator<Piece> {
    const [pieces, isProven] = [this.#pieces ?? [], this.isProven];
    this.#pieces = undefined;
    if (!isProven) return yield* pieces;
    this.#onRemark(CONTENTS_REMARK);
    for (const entry of this.#entries) this.titles.add(entry);
    yield* pieces.filter(({ kind }) => kind === 'chapter' || kind === 'voice' || kind === 'pause');
  }
}

/** Wrapped lines are prose, unless they look like a title. */
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

/** Returns the keys that match the title of an entry's chapter: with its number, and without. */
function entriesOf(line: string): readonly string[] {
  const text = line.replace(/[\s._]*\s(?:\d{1,4}|[ivxlc]{1,6})\s*$/u, '');
  const key = wordKey(text);
  if (!hasWord(key)) return [];
  const name = wordKey(text.replace(/^\s*(?:\p{L}+\s+)?(?:[IVXLC]+|\d{1,3})[.:)—–-]?\s+/u, ''));
  return name === key || name === '' ? [key] : [key, name];
}
