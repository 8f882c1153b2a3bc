import { EMPTY_LINE, type Piece, placeAfter, writtenOf } from '../text/piece.ts';
import { hasWord, wordKey } from '../text/unicode.ts';

/** Where a book is known to be one of Project Gutenberg. */
export interface Origin {
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

export const NOTES_NOTE = 'left out: the notes of the transcriber; --all reads them';

export type NoteKind = 'line' | 'bracket' | 'paragraph';

/** @returns `line` for a title that stands alone; `undefined` for what is not a note */
export function noteKind(text: string): NoteKind | undefined {
  const [label = ''] = NOTE.exec(text) ?? [];
  if (label === '') return undefined;
  if (/^\s*\[/u.test(label) && !/\]\W*$/u.test(text)) return 'bracket';
  return text.trim().length - label.trim().length <= LONGEST_LABEL ? 'line' : 'paragraph';
}

/** The title of a table of contents, in the languages of the books. */
const CONTENTS =
  /^\W*(?:(?:table of |the )?contents(?: of (?:vol(?:ume|\.)|part|book)\b.{0,20})?|(?:list of )?illustrations|inhalt(?:sverzeichnis)?|table(?: des (?:mati[eè]res|chapitres))?|(?:tabla de )?contenidos?|[ií]ndice(?: (?:general|generale))?|inhoud(?:sopgave)?|sis[aä]llys(?:luettelo)?|inneh[aå]ll|indhold|tartalom|spis tre[sś]ci|obsah)\W*$/iu;

/** True for the title of a table of contents or of a list of pictures. */
export function namesContents(text: string): boolean {
  return text.length <= 60 && CONTENTS.test(text);
}

/** UTF-16 units. A longer table of contents is text. */
const LONGEST_CONTENTS = 65_536;
const FEWEST_ENTRIES = 2;
export const CONTENTS_NOTE = 'left out: the table of contents; --all reads it';

/** What may be a table of contents, while it is read. */
export class MaybeContents {
  readonly pieces: Piece[];
  /** The titles that it names. */
  readonly entries: string[] = [];
  #lines = 0;
  #length = 0;

  /** @param pieces those of its title */
  constructor(pieces: readonly Piece[]) {
    this.pieces = [...pieces];
  }

  get isWhole(): boolean {
    return this.#lines >= FEWEST_ENTRIES;
  }

  add(content: string): void {
    const lines = content.split('\n').map(entriesOf);
    this.entries.push(...lines.flat());
    this.#lines += lines.filter(({ length }) => length > 0).length;
    this.#length += content.length;
  }

  /** @returns true for a block that is not one more part of it */
  isOverAt(content: string): boolean {
    const isRepeated = this.isWhole && wordKey(content) === this.entries[0];
    return isRepeated || !isEntry(content) || this.#length > LONGEST_CONTENTS;
  }

  /** What remains of it when it ends. */
  rest(): readonly Piece[] {
    if (!this.isWhole) return this.pieces;
    return this.pieces.filter(({ kind }) => kind === 'chapter' || kind === 'voice' || kind === 'pause');
  }
}

/** Prose is wrapped: all of its lines but the last are long. */
function isEntry(content: string): boolean {
  const lines = content.split('\n').map((line) => line.trim());
  const isWrapped =
    lines.length > 1 && lines.slice(0, -1).every((line) => line.length > 55 && !/\d$/u.test(line));
  return !isWrapped && lines.every(({ length }) => length <= 120);
}

/** An entry as the title of its chapter is compared: with its number, and without. */
function entriesOf(line: string): readonly string[] {
  const text = line.replace(/[\s._]*\s(?:\d{1,4}|[ivxlc]{1,6})\s*$/u, '');
  const key = wordKey(text);
  if (!hasWord(key)) return [];
  const name = wordKey(text.replace(/^\s*(?:\p{L}+\s+)?(?:[IVXLC]+|\d{1,3})[.:)—–-]?\s+/u, ''));
  return name === key || name === '' ? [key] : [key, name];
}
