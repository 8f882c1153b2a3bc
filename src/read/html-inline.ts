import { endsSentence, withFullStop } from '../text/marks.ts';
import type { Piece, Place } from '../text/piece.ts';

/** It stands for a line break that counts. White space of the source is only a space. */
const LINE = '\u2028';
/** It stands after the large first letter of a word. A noncharacter. */
const INITIAL = '\uFDD1';
/** It stands around words that are not in the text. It is not a space before a comma or after a bracket. A noncharacter. */
const GAP = '\uFDD2';
const NARROW_GAP = new RegExp(`(?<=[\\s(\\[{“«¿¡])${GAP}|${GAP}(?=[\\s.,;:!?…)\\]}”»])`, 'gu');

const CONTROL = '(?![\\t\\n\\f\\r])\\p{Cc}';
/** They hide in words: soft hyphens, zero-width spaces, marks of direction. Joiners count outside of Latin script. */
const HIDDEN = '[\\u00ad\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff]';
const LATIN_JOINER = '(?<=\\p{sc=Latin})[\\u200c\\u200d]';
const INVISIBLE = new RegExp(`${CONTROL}|${HIDDEN}|${LATIN_JOINER}`, 'gu');
/** The characters of most texts. */
const PLAIN = /^[\t\n\r\x20-\x7e]*$/u;
/** Most texts hold none of these, and a test is quicker than a replacement. */
const MAY_BE_INVISIBLE = new RegExp(
  `${CONTROL}|[\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]`,
  'u',
);

const EAST_ASIAN = '[\\u3000-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff\\uff00-\\uffef]';
const HAS_EAST_ASIAN = new RegExp(EAST_ASIAN, 'u');
/** A line end between two of these characters is not a space. */
const WRAPPED_EAST_ASIAN = new RegExp(
  `(?<=${EAST_ASIAN})[ \\t]*[\\r\\n][ \\t\\r\\n]*(?=${EAST_ASIAN})`,
  'gu',
);

const INITIAL_AND_REST = new RegExp(`(\\p{L})${INITIAL}(\\s*)(?=\\p{L})`, 'gu');
const CONSONANT = /[b-df-hj-np-tv-xz]/iu;
const LONE_INITIAL = new RegExp(`^\\s*[“"«‹‘„]?\\p{L}${INITIAL}\\s*$`, 'u');
/** Parts that are looked at before a note. */
const TAIL = 8;
/** UTF-16 units, with white space. A longer text is neither a name nor a letter, nor the text of a link to a note. */
const LONGEST_SHORT = 1000;
/** It looks at a run of these characters only once. */
const END_OF_NAME = /(?<![\s.:])[\s.:]+$/u;
const OPENING_QUOTE = /^\s*[“"«‹‘„]?\s*$/u;
const ONE_LETTER = /^\s*[“"«‹‘„]?\p{L}\s*$/u;

/** The text of one block, while it is read. */
export class Inline {
  #parts: string[] = [];
  /** The places of parts that are more than white space. */
  #inked: number[] = [];
  #length = 0;
  /** The base of a ruby begins here; `undefined` outside of rubies. */
  #base: number | undefined;
  #reading: string | undefined;

  /** UTF-16 units. */
  get length(): number {
    return this.#length;
  }

  get isBlank(): boolean {
    return this.isBlankFrom(0);
  }

  isBlankFrom(start: number): boolean {
    return (this.#inked.at(-1) ?? -1) < start;
  }

  /** True if all there is, is the large first letter of a word. */
  get isLoneInitial(): boolean {
    return this.#parts.length < 8 && LONE_INITIAL.test(this.#parts.join(''));
  }

  text(text: string): void {
    if (this.#reading !== undefined) this.#reading += text;
    else if (this.#base === undefined || text.trim() !== '') this.#add(text);
  }

  /** @param text its line ends count */
  lines(text: string): void {
    this.text(text.replace(/\r\n?|\n/gu, LINE));
  }

  /** Two are the border of a paragraph, and more are not more. */
  lineBreak(): void {
    if (this.#parts.at(-1) !== LINE || this.#parts.at(-2) !== LINE) this.text(LINE);
  }

  /** What comes next stands in another line. */
  endLine(): void {
    if (!this.isBlank && this.#parts.at(-1) !== LINE) this.#add(LINE);
  }

  /** The description of a picture. One letter is the beginning of the word that follows. */
  picture(description: string): void {
    if (ONE_LETTER.test(description) && this.#isBeforeFirstWord(this.#parts.length))
      this.#add(description.trim() + INITIAL);
    else this.describe(description);
  }

  /** Says in words what is not text. */
  describe(description: string): void {
    if (description.trim() !== '') this.#add(`${GAP}${description.trim()}${GAP}`);
  }

  #isBeforeFirstWord(end: number): boolean {
    return end < TAIL && OPENING_QUOTE.test(this.#parts.slice(0, end).join(''));
  }

  /** The text before was the large first letter of a word, if it is one letter. */
  endInitial(start: number): void {
    const letter = this.#source(start, LONGEST_SHORT) ?? '';
    if (!ONE_LETTER.test(letter) || !this.#isBeforeFirstWord(start)) return;
    this.cut(start);
    this.#add(letter.trim() + INITIAL);
  }

  /** @returns a place in the text, for {@link Inline.endInitial}, {@link Inline.from} and {@link Inline.cut} */
  get mark(): number {
    return this.#parts.length;
  }

  /**
   * @param most UTF-16 units, with white space
   * @returns `undefined` for a longer text
   */
  from(start: number, most = LONGEST_SHORT): string | undefined {
    const source = this.#source(start, most);
    return source === undefined ? undefined : spoken(source);
  }

  /** @returns the end of the text */
  get tail(): string {
    return this.#parts.slice(-TAIL).join('').replaceAll(GAP, ' ');
  }

  /**
   * The text before is the name of a speaker.
   * @returns true for a name at the beginning of a block
   */
  endName(start: number): boolean {
    const name = this.from(start)?.replace(END_OF_NAME, '');
    if (!name) return false;
    this.cut(start);
    const isFirst = this.isBlank;
    this.#add(`${name}: `);
    return isFirst;
  }

  startRuby(): void {
    this.#base = this.#parts.length;
  }

  startReading(): void {
    this.#reading = '';
  }

  /** A reading in kana is spoken in place of its base. */
  endReading(): void {
    const reading = this.#reading ?? '';
    this.#reading = undefined;
    if (this.#base !== undefined && /^[\p{sc=Hiragana}\p{sc=Katakana}ー・\s]+$/u.test(reading)) {
      this.cut(this.#base);
      this.#add(reading.trim());
    }
    this.#base = this.#parts.length;
  }

  endRuby(): void {
    this.#base = undefined;
    this.#reading = undefined;
  }

  /** Takes the end of the text away. */
  cut(start: number): void {
    for (const part of this.#parts.splice(start)) this.#length -= part.length;
    while (!this.isBlankFrom(start)) this.#inked.pop();
  }

  /** @returns the text as it is spoken, and begins a new one */
  take(): string {
    const text = this.#parts.join('');
    this.#parts = [];
    this.#inked = [];
    this.#length = 0;
    if (this.#base !== undefined) this.#base = 0;
    return spoken(text);
  }

  /** @returns all but the last word, which may go on */
  takeBeginning(): string {
    const all = this.#parts.join('');
    const space = all.search(/\s\S*$/u);
    const beginning = space > 0 ? all.slice(0, space) : all;
    this.take();
    this.#add(all.slice(beginning.length));
    return spoken(beginning);
  }

  /** It takes no longer for a longer text than up to `most`. */
  #source(start: number, most: number): string | undefined {
    let source = '';
    for (let at = start; at < this.#parts.length && source.length <= most; at += 1) source += this.#parts[at];
    return source.length > most ? undefined : source;
  }

  #add(text: string): void {
    if (text.trim() !== '') this.#inked.push(this.#parts.length);
    this.#parts.push(text);
    this.#length += text.length;
  }
}

/** Removes what only the eye needs. */
function spoken(source: string): string {
  let text = source;
  if (!PLAIN.test(text)) {
    if (MAY_BE_INVISIBLE.test(text)) text = text.replace(INVISIBLE, '');
    if (HAS_EAST_ASIAN.test(text)) text = text.replace(WRAPPED_EAST_ASIAN, '');
    if (text.includes(INITIAL)) text = joined(text);
    if (text.includes(GAP)) text = text.replace(NARROW_GAP, '').replaceAll(GAP, ' ');
  }
  text = text.replace(/(?: *[\t\n\r\f\u00a0])+ *| {2,}/gu, ' ');
  if (text.includes(LINE)) text = text.replace(/ ?\u2028[ \u2028]*/gu, lineEnd);
  return text.trim();
}

/** Two line breaks are the border of a paragraph. */
function lineEnd(gap: string): string {
  return gap.indexOf(LINE) === gap.lastIndexOf(LINE) ? '\n' : '\n\n';
}

/** "T" and "he" are one word; "A" and " long" are two. */
function joined(text: string): string {
  return text
    .replace(INITIAL_AND_REST, (_, letter: string, gap: string) =>
      gap === '' || CONSONANT.test(letter) ? letter : `${letter} `,
    )
    .replaceAll(INITIAL, '');
}

/** Names of elements, in small letters and without a prefix. */
type Names = ReadonlySet<string>;

const named = (names: string): Names => new Set(names.split(' '));

/** What stands in one of them is a block of its own. */
export const BLOCKS = named(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer ' +
    'form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section ' +
    'summary table tbody td tfoot th thead tr ul',
);

/** Nothing in them is meant for a reader of the text. */
const SILENT = named(
  'audio button canvas command datalist head iframe input map meter noscript progress rp rtc script select style svg ' +
    'template textarea title video',
);

/** The parts of a web page that surround its text. */
export const PAGE_FURNITURE = named('aside footer nav');

/** Roles of a web page's parts that surround its text. */
export const FURNITURE_ROLES = named('navigation complementary contentinfo search banner');

/** Their text ends like a sentence, whatever its last character. */
export const CLOSED = named('caption dd dt figcaption h1 h2 h3 h4 h5 h6 legend li summary td th');

/** They follow each other like lines. */
export const TIGHT = named('dd dt li td th');

/** @returns 1 for the highest heading, `undefined` for other elements */
export function headingLevel(name: string): number | undefined {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : undefined;
}

/** @param name as it is written: `m:math` is `math` */
export function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

export type Attributes = Readonly<Record<string, string>>;

/** Words of `epub:type` (with any prefix) and of `role`, in small letters; `doc-` is taken off. */
export function meaningsOf(attributes: Attributes): readonly string[] {
  const words: string[] = [];
  for (const name in attributes) {
    if (name !== 'role' && !(name.endsWith(':type') && name !== 'xlink:type' && name !== 'xsi:type'))
      continue;
    for (const word of (attributes[name] ?? '').toLowerCase().split(/\s+/u))
      if (word !== '') words.push(word.replace(/^doc-/u, ''));
  }
  return words;
}

const PAGE_NUMBERS = new Set(['pagebreak', 'page-list']);
/** Numbers of printed pages, and the links with which Wikipedia edits a section. */
const SILENT_CLASS = /(?:^|\s)(?:(?:x-ebookmaker-)?page-?(?:num(?:ber)?s?|no)|mw-editsection)(?:\s|$)/iu;
const NO_DISPLAY = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/iu;

/** True for what nobody sees, and for the numbers of printed pages. */
export function isSilent(name: string, attributes: Attributes, meanings: readonly string[]): boolean {
  if (SILENT.has(name)) return true;
  const { hidden, style, class: classes } = attributes;
  if (hidden !== undefined || attributes['aria-hidden'] === 'true') return true;
  if (style !== undefined && NO_DISPLAY.test(style)) return true;
  if (name === 'dialog' && attributes.open === undefined) return true;
  if (classes !== undefined && SILENT_CLASS.test(classes)) return true;
  return meanings.some((meaning) => PAGE_NUMBERS.has(meaning));
}

const PAGE_NAME = /^(?:page|pg)[-_.]?0*(0|[1-9]\d*|[ivxlc]+)$/iu;
/** It looks at a run of these characters only once. */
const AROUND_NUMBER = /^[\s([{]*(?:(?:page|pg|p)\b\.?\s*)?|(?<![\s)\]}])[\s)\]}]+$/giu;

/** @returns the number in the name of an element that is named after a printed page */
export function pageNamedBy({ id, name }: Attributes): string | undefined {
  return PAGE_NAME.exec(id ?? name ?? '')?.[1];
}

/** True for a text that is nothing but the number of this page. */
export function isPageNumber(text: string, page: string | undefined): boolean {
  return page !== undefined && text.replace(AROUND_NUMBER, '').toLowerCase() === page.toLowerCase();
}

const BLOCK_DISPLAY = /(?:^|;)\s*display\s*:\s*(?:block|list-item|table-row|flex|grid)\b/iu;

export function isShownAsBlock({ style }: Attributes): boolean {
  return style !== undefined && BLOCK_DISPLAY.test(style);
}

const INITIAL_CLASS = /(?:^|[\s_-])(?:drop-?caps?|dropped|initial|lettrine)(?:$|[\s_-])/iu;

/** True for an element that holds the large first letter of a word. */
export function isInitial({ class: classes }: Attributes): boolean {
  return classes !== undefined && INITIAL_CLASS.test(classes);
}

/** True for the name of a speaker in a play (Z39.98 structural vocabulary). */
export function isPersona(meanings: readonly string[]): boolean {
  return meanings.some((meaning) => /^(?:z3998:)?persona$/u.test(meaning));
}

/** What the reader of a document knows of its notes. */
export interface Notes {
  /** True for a link that leads to a note. */
  isReference(href: string): boolean;
  /** The note that is read where it is first referred to. It is `undefined` for one that is not read there. */
  take(href: string): string | undefined;
  /** True for an element that is a note, or in which one begins. */
  isNote(id: string): boolean;
  /** The number of references whose notes were not read. */
  readonly skipped: number;
}

const NUMBER_OR_SIGN =
  /^[\s([{]*(?:(?:note|fn|n|注)\.?\s*)?(?:\p{N}{1,4}|[*†‡§¶‖#⁎∗※]{1,4}|[ivxlc]{1,6}|\p{L})[\s)\]}.:]*$/iu;

/** True for the text of a link that may refer to a note: `1`, `[12]`, `*`, `iv`. */
export function isMark(text: string): boolean {
  return NUMBER_OR_SIGN.test(text);
}

/** UTF-16 units. */
const LONGEST_MARK = 20;

/** True for the text of what says of itself that it refers to a note. A linked word of a sentence is not a mark. */
function isMeantAsMark(text: string): boolean {
  return text.trim().length <= LONGEST_MARK && (/\p{N}/u.test(text) || !/\p{L}{3}/u.test(text));
}

const REFERENCE_CLASS =
  /(?:^|\s)(?:footnote-?(?:ref|anchor|link)|noteref|note-?ref|fnref|fnanchor)(?:\s|$)/iu;

/** True for an element that says that it refers to a note. */
export function saysReference({ class: classes }: Attributes, meanings: readonly string[]): boolean {
  return meanings.includes('noteref') || (classes !== undefined && REFERENCE_CLASS.test(classes));
}

const BACK = new Set(['backlink', 'referrer']);
const BACK_CLASS =
  /(?:^|\s)(?:footnote-?back(?:ref|link)?|reversefootnote|backlink|footnote-return)(?:\s|$)/iu;

/** True for a link from a note back to where it is referred to. */
export function leadsBack({ class: classes }: Attributes, meanings: readonly string[]): boolean {
  return meanings.some((meaning) => BACK.has(meaning)) || (classes !== undefined && BACK_CLASS.test(classes));
}

const NOTES = new Set(['footnote', 'footnotes', 'endnote', 'endnotes', 'rearnote', 'rearnotes']);
const NOTES_CLASS = /(?:^|\s)(?:footnotes?|endnotes?|rearnotes?)(?:\s|$)/iu;

/** True for a note, or a list of notes, that says so. */
export function saysNote(name: string, { class: classes }: Attributes, meanings: readonly string[]): boolean {
  if (meanings.some((meaning) => NOTES.has(meaning))) return true;
  return BLOCKS.has(name) && name !== 'body' && classes !== undefined && NOTES_CLASS.test(classes);
}

/** @param said the text before the reference */
function noteAfter(said: string, note: string): string {
  return endsSentence(said.trimEnd()) ? ` ${withFullStop(note)} ` : ` (${note.replace(/\.$/u, '')})`;
}

interface EndedLink {
  readonly href: string;
  readonly saysReference: boolean;
}

/** True for the sign behind a heading that leads to the heading itself. */
function isPermalink(text: string, href: string): boolean {
  return /^[#§¶]$/u.test(text) && href.startsWith('#');
}

/**
 * A reference is silent. Its note may be read in its place.
 * @param start where the text of the link begins
 */
export function endLink(inline: Inline, start: number, link: EndedLink, notes: Notes | undefined): void {
  const text = inline.from(start);
  if (!text) return;
  const isReference = link.saysReference
    ? isMeantAsMark(text)
    : isMark(text) && notes?.isReference(link.href) === true;
  if (isReference || isPermalink(text, link.href)) inline.cut(start);
  if (!isReference) return;
  const note = notes?.take(link.href);
  if (note) inline.text(noteAfter(inline.tail, note));
}

/** @returns what there is to say of notes that were not read */
export function skippedNotes(count: number): string | undefined {
  if (count === 0) return undefined;
  if (count === 1) return '1 note is not read; --footnotes read reads it where it is referred to';
  return `${count} notes are not read; --footnotes read reads them where they are referred to`;
}

export interface ChapterStart {
  readonly title: string | undefined;
  /** 1 is the highest. */
  readonly level: number;
}

/** What the reader of a document decides on its elements. */
export interface Rules {
  readonly notes?: Notes | undefined;
  /** True for an element that is not read, besides those that nobody sees. */
  leavesOut?(name: string, attributes: Attributes, meanings: readonly string[]): boolean;
  /** The chapter that begins where the element with this id begins. */
  chapterAt?(id: string): ChapterStart | undefined;
  /** It is called for each element that is read, and its result when the element ends. */
  enter?(name: string, meanings: readonly string[]): (() => void) | undefined;
  place(): Place;
  piece(piece: Piece): void;
}

/** An element that is open. */
export interface Frame {
  readonly name: string;
  readonly isBlock: boolean;
  /** Blocks have begun inside of it. */
  hasBlocks: boolean;
  /** The name of a speaker in a play begins at this place of the text. */
  readonly nameAt: number | undefined;
  /** What may be the large first letter of a word begins at this place of the text. */
  readonly initialAt: number | undefined;
  readonly end: (() => void) | undefined;
}

/** One tag of HTML inside of another format, which has checked that it is one. */
export interface Tag {
  /** It is in small letters. */
  readonly name: string;
  readonly isEnd: boolean;
  /** No end follows. */
  readonly isEmpty: boolean;
  readonly attributes: Attributes;
}

const TAG = /^<(\/?)([a-z][a-z\d:-]*)/iu;
const ATTRIBUTE = /\s([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/gu;
const EMPTY = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** @returns `undefined` for comments and declarations */
export function tagOf(source: string): Tag | undefined {
  const [opening, slash, written] = TAG.exec(source) ?? [];
  if (opening === undefined || written === undefined) return undefined;
  const name = written.toLowerCase();
  const attributes: Record<string, string> = {};
  for (const [, key = '', ...values] of source.slice(opening.length).matchAll(ATTRIBUTE))
    attributes[key.toLowerCase()] ??= values.find((value) => value !== undefined) ?? '';
  return { name, isEnd: slash !== '', isEmpty: EMPTY.has(name) || source.endsWith('/>'), attributes };
}

/** True for an element that is not spoken; its text is not either. */
export function isUnspoken({ name, attributes }: Tag): boolean {
  return name === 'rt' || name === 'math' || isSilent(name, attributes, meaningsOf(attributes));
}

/** What a tag itself is worth: a line break, or the description of what it shows. */
export function spokenTag({ name, isEnd, attributes }: Tag): string {
  if (name === 'br' || BLOCKS.has(name)) return '\n';
  if (name === 'math' && !isEnd) return attributes.alttext || 'formula';
  return name === 'img' && !isEnd ? (attributes.alt ?? '') : '';
}
