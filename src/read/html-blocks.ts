import { withFullStop } from '../text/marks.ts';
import { inSteps, type Piece, type Place } from '../text/piece.ts';
import {
  type Attributes,
  BLOCKS,
  CLOSED,
  codeOmitted,
  describesNothing,
  headingLevel,
  isCode,
  isInitial,
  isListing,
  isPageNumber,
  isPersona,
  isRaised,
  isShownAsBlock,
  isSilent,
  languageOfCode,
  leadsBack,
  localName,
  meaningsOf,
  pageNamedBy,
  rowOf,
  saysNote,
  saysReference,
  TIGHT,
  UNSHOWN_IN_SVG,
} from './html-elements.ts';
import { Inline } from './html-inline.ts';
import { endLink, endRaised, type Notes } from './html-notes.ts';
import { isLineNumber, isVerse, Stanza, withoutLineNumbers } from './html-verse.ts';
import type { HtmlOptions, LanguageMark } from './reading.ts';

export interface ChapterStart {
  readonly title: string | undefined;
  /** 1 is the highest. */
  readonly level: number;
}

/** What the reader of a document decides on its elements. */
export interface Rules {
  readonly notes?: Notes | undefined;
  /** True for an element that is not read, besides those that are invisible. */
  leavesOut?(name: string, attributes: Attributes, meanings: readonly string[]): boolean;
  /** The chapter that begins where the element with this id begins. */
  chapterAt?(id: string): ChapterStart | undefined;
  languageMark?: LanguageMark | undefined;
  /** What is said of the whole document, where its own root says nothing. */
  readonly language?: string | undefined;
  place(): Place;
  piece(piece: Piece): void;
}

/** UTF-16 units. A longer block is given out in parts. */
const LONGEST_BLOCK = 32_768;

const SCENE = /^(?:[*⁂•·#~—–_+=◆❦☙✻✽§◊○●☆★-]\s*)+$/u;

/** Blocks that may be lines of verse. */
const LINES: ReadonlySet<string> = new Set(['div', 'p']);

/** Elements and their text to pieces. */
export class Blocks {
  readonly #options: HtmlOptions;
  readonly #rules: Rules;
  readonly #frames: Frame[] = [];
  readonly #inline = new Inline();
  /** Elements that are open inside of one that is silent, itself included. */
  #silent = 0;
  #pre = 0;
  /** The drawing says that it is a picture. */
  #isPicture = false;
  /** Pictures and drawings up to here, described or not. */
  pictures = 0;
  /** The description of the picture before. A decoration repeats it. */
  #lastAlt: string | undefined;
  /** All of the `pre` is code, which is not read. */
  #isListing = false;
  /** The link that is open has raised text in it. */
  #hasRaised = false;
  #heading: number | undefined;
  #row: Row | undefined;
  #place: Place | undefined;
  #isFirst = true;
  /** The block before was an item or a row. */
  #wasTight = false;
  /** A part of the block was given out. */
  #goesOn = false;
  /** All there is of the block is the name of a speaker, whose words follow. */
  #isNamed = false;
  /** The block is a note that is not read here. */
  #isNote = false;
  readonly #stanza = new Stanza();
  /** Texts of elements in the block that may be numbers of lines. */
  #numbers: string[] = [];

  constructor(options: HtmlOptions, rules: Rules) {
    this.#options = options;
    this.#rules = rules;
  }

  get isSilent(): boolean {
    return this.#silent > 0;
  }

  open(tag: string, attributes: Attributes): void {
    const id = attributes.id ?? (tag === 'a' ? attributes.name : undefined);
    const chapter = id === undefined ? undefined : this.#rules.chapterAt?.(id);
    if (chapter) this.startChapter(chapter);
    if (this.#silent > 0) {
      this.#silent += 1;
      return;
    }
    const name = localName(tag);
    const meanings = meaningsOf(attributes);
    const isBlock = BLOCKS.has(name) || isShownAsBlock(attributes) || (name === 'text' && this.#isInDrawing);
    if (isBlock) this.#startBlock(LINES.has(name) && meanings.length === 0);
    if (this.#startsNote(id, isBlock) || this.#isUnspoken(name, attributes, meanings)) this.#silent = 1;
    else this.#enter(name, isBlock, attributes, meanings);
  }

  #enter(name: string, isBlock: boolean, attributes: Attributes, meanings: readonly string[]): void {
    const { mark } = this.#inline;
    const language = this.#languageOf(name, attributes);
    this.#frames.push({
      name,
      isBlock,
      isListing: isBlock && isListing(attributes),
      hasBlocks: false,
      nameAt: isPersona(meanings) ? mark : undefined,
      initialAt: isInitial(attributes) ? mark : undefined,
      language,
      end: this.#begin(name, attributes, meanings),
    });
    this.#speak(isBlock);
  }

  text(text: string): void {
    if (this.#silent > 0) return;
    if (/\S/u.test(text)) {
      this.#place ??= this.#rules.place();
      this.#isNamed = false;
    }
    if (this.#pre > 0) this.#inline.lines(text);
    else this.#inline.text(text);
    if (this.#inline.length > LONGEST_BLOCK) this.#giveBeginning();
  }

  close(): void {
    if (this.#silent > 0) {
      this.#silent -= 1;
      return;
    }
    const frame = this.#frames.at(-1);
    if (frame?.nameAt !== undefined) this.#isNamed ||= this.#inline.endName(frame.nameAt);
    if (frame?.initialAt !== undefined) this.#inline.endInitial(frame.initialAt);
    if (frame?.isBlock) this.#border();
    if (this.#stanza.isIn(frame)) this.#endStanza();
    frame?.end?.();
    this.#frames.pop();
    this.#speak(frame?.isBlock === true);
  }

  /** @returns the placeholder of the language in an element, "" for an unknown one */
  #languageOf(name: string, { 'xml:lang': xml, lang = xml }: Attributes): string {
    const { languageMark, language } = this.#rules;
    const around = this.#frames.at(-1)?.language;
    if (!languageMark) return '';
    const isWhole = name === 'html' || name === 'body';
    if (lang !== undefined) return languageMark(lang.trim() || undefined, isWhole);
    return around ?? languageMark(language, true);
  }

  /** The text of an element follows, or what comes after it. */
  #speak(isBlock: boolean): void {
    if (!this.#rules.languageMark) return;
    const language = this.#frames.at(-1)?.language ?? '';
    this.#inline.speak(language, isBlock ? this.#blockLanguage : undefined);
  }

  /** The placeholder of the language of the innermost block. */
  get #blockLanguage(): string {
    return this.#frames.findLast(({ isBlock }) => isBlock)?.language ?? '';
  }

  end(): void {
    this.#endBlock(true);
    this.#endRow();
    this.#endStanza();
  }

  startChapter(start: ChapterStart): void {
    this.end();
    this.#rules.piece({ kind: 'chapter', ...start });
    this.#isFirst = true;
  }

  /** @returns true for a note that is a block of its own; otherwise the block that it begins is one */
  #startsNote(id: string | undefined, isBlock: boolean): boolean {
    if (id === undefined || !this.#rules.notes?.isNote(id)) return false;
    if (!isBlock) this.#isNote ||= this.#inline.isBlank;
    return isBlock;
  }

  #isUnspoken(name: string, attributes: Attributes, meanings: readonly string[]): boolean {
    const isUnspoken = this.#isUnspokenDrawing(name, attributes, meanings);
    if (isUnspoken !== undefined) return isUnspoken;
    if (isSilent(name, attributes, meanings) || this.#isUnspokenCode(name, attributes)) return true;
    if (this.#rules.leavesOut?.(name, attributes, meanings)) return true;
    if (leadsBack(attributes, meanings)) return true;
    if (!this.#options.readsNotes && saysNote(name, attributes, meanings)) return true;
    if (name === 'rt') return !this.#options.speaksReadings;
    if (name === 'math') this.#inline.describe(attributes.alttext?.trim() || 'formula');
    return name === 'math' || (name === 'case' && this.#frames.at(-1)?.name === 'switch');
  }

  /**
   * A label stands for all of a drawing; otherwise the title of one that says it is a picture is its description.
   * @returns `undefined` for what is not part of a drawing, or is as silent in it as elsewhere
   */
  #isUnspokenDrawing(name: string, attributes: Attributes, meanings: readonly string[]): boolean | undefined {
    if (UNSHOWN_IN_SVG.has(name) && this.#isInDrawing) return true;
    if (name === 'title' && this.#isInDrawing) return this.#frames.at(-1)?.name !== 'svg' || !this.#isPicture;
    if (name !== 'svg') return undefined;
    this.#isPicture = meanings.includes('img');
    const label = attributes['aria-label'];
    if (!label || isSilent(name, attributes, meanings)) return undefined;
    this.#picture({ alt: label }, meanings);
    return true;
  }

  /** Says once for a block of code that it is left out. */
  #isUnspokenCode(name: string, attributes: Attributes): boolean {
    const { code } = this.#options;
    if (code === 'read') return false;
    const isWhole =
      name === 'pre' && (isListing(attributes) || this.#frames.slice(-2).some((frame) => frame.isListing));
    const isBegun = this.#pre > 0 && isCode(name) && (this.#isListing || this.#inline.isBlank);
    if (!isWhole && !isBegun) return false;
    if (code === 'announce' && !this.#isListing) {
      this.#place ??= this.#rules.place();
      this.#inline.text(codeOmitted(languageOfCode(attributes)));
      if (isWhole) this.#border();
    }
    this.#isListing = isBegun;
    return true;
  }

  /** @returns what the end of the element does */
  #begin(name: string, attributes: Attributes, meanings: readonly string[]): (() => void) | undefined {
    const inline = this.#inline;
    const level = headingLevel(name);
    if (level !== undefined && this.#heading === undefined) {
      this.#heading = level;
      return () => this.#endHeading();
    }
    switch (name) {
      case 'br':
        return void inline.lineBreak();
      case 'hr':
        return void this.#scene();
      case 'img':
        return void this.#picture(attributes, meanings);
      case 'title':
        return this.#description(inline.mark);
      case 'svg':
        this.pictures += 1;
        return undefined;
      case 'ruby':
        inline.startRuby();
        return () => inline.endRuby();
      case 'rt':
        inline.startReading();
        return () => inline.endReading();
      case 'pre':
        this.#pre += 1;
        return () => {
          this.#pre -= 1;
          this.#isListing = false;
        };
      case 'table':
        return void this.#endRow();
      case 'tr':
        this.#row ??= new Row();
        return () => this.#endRow();
      case 'td':
      case 'th':
        return void this.#row?.startCell();
    }
    const link = this.#link(name, attributes, meanings);
    if (link) return link;
    if (isRaised(name, attributes)) return this.#raised(inline.mark);
    return BLOCKS.has(name) ? undefined : this.#lineNumber(inline.mark);
  }

  #link(name: string, attributes: Attributes, meanings: readonly string[]): (() => void) | undefined {
    const inline = this.#inline;
    const isReference = saysReference(attributes, meanings);
    const page = name === 'a' || name === 'span' ? pageNamedBy(attributes) : undefined;
    const isLink = name === 'a' && attributes.href !== undefined;
    if (!isReference && page === undefined && !isLink) return undefined;
    const start = inline.mark;
    this.#hasRaised = false;
    const link = { href: attributes.href ?? '', saysReference: isReference };
    return () => {
      if (isPageNumber(inline.from(start) ?? '', page)) inline.cut(start);
      else endLink(inline, start, link, this.#rules.notes);
      if (this.#hasRaised) endRaised(inline, start);
    };
  }

  /** Of a link it is known at its end whether it leads to a note. */
  #raised(start: number): () => void {
    return () => {
      if (this.#frames.some(({ name }) => name === 'a')) this.#hasRaised = true;
      else endRaised(this.#inline, start);
    };
  }

  #lineNumber(start: number): () => void {
    return () => {
      const text = this.#inline.from(start) ?? '';
      if (isLineNumber(text)) this.#numbers.push(text);
    };
  }

  #picture(attributes: Attributes, meanings: readonly string[]): void {
    const { alt } = attributes;
    this.pictures += 1;
    const isRepeated = alt !== undefined && alt.length > 1 && alt === this.#lastAlt;
    this.#lastAlt = alt;
    if (
      !alt ||
      isRepeated ||
      describesNothing(attributes) ||
      meanings.includes('presentation') ||
      meanings.includes('none')
    )
      return;
    this.#place ??= this.#rules.place();
    this.#inline.picture(alt);
  }

  /** The text behind the place is the description of a drawing. */
  #description(start: number): () => void {
    return () => {
      const description = this.#inline.from(start) ?? '';
      this.#inline.cut(start);
      this.#inline.describe(description);
    };
  }

  get #isInDrawing(): boolean {
    return this.#frames.some(({ name }) => name === 'svg');
  }

  #scene(): void {
    this.#endRow();
    this.#endStanza();
    this.#rules.piece({ kind: 'scene' });
  }

  /** @param maybeLine true for what may be one more line of the stanza */
  #startBlock(maybeLine: boolean): void {
    const around = this.#frames.findLast((frame) => frame.isBlock);
    if (around) around.hasBlocks = true;
    this.#border();
    if (!maybeLine) this.#endStanza();
  }

  /** Blocks in a heading are its lines. */
  #border(): void {
    if (this.#heading === undefined) this.#endBlock();
    else this.#inline.endLine();
  }

  #endHeading(): void {
    const text = this.#inline.take();
    const level = this.#heading ?? 1;
    const place = this.#place;
    this.#heading = undefined;
    if (text === '') return;
    this.#endRow();
    this.#place = place;
    this.#endStanza();
    if (!this.#isFirst) this.#rules.piece({ kind: 'paragraph' });
    this.#isFirst = true;
    this.#rules.piece({ kind: 'heading', level });
    this.#give(withFullStop(text), false);
    this.#rules.piece({ kind: 'heading', level });
  }

  /** @param isLast false where the large first letter of a word may wait for the next block */
  #endBlock(isLast = false): void {
    const waits = this.#isNamed || this.#inline.isLoneInitial;
    if (this.#inline.length === 0 || (waits && !isLast)) return;
    this.#isNamed = false;
    const text = this.#inline.take();
    const numbers = this.#numbers.splice(0);
    const isNote = this.#isNote;
    this.#isNote = false;
    if (text === '' || isNote) return;
    this.#giveBlock(text, numbers);
    this.#goesOn = false;
    this.#place = undefined;
  }

  #giveBlock(text: string, numbers: readonly string[]): void {
    const block = this.#frames.findLast(({ isBlock }) => isBlock);
    const { name } = block ?? { name: 'body' };
    const bare = withoutLineNumbers(text, numbers);
    if (this.#row && !this.#row.isLong)
      this.#giveTight(this.#row.add(this.#blockLanguage + text, this.#place), this.#row);
    else if (SCENE.test(text)) this.#scene();
    else if (CLOSED.has(name)) this.#give(withFullStop(text), TIGHT.has(name));
    else if (!LINES.has(name) || !this.#takeLine(text, bare, block))
      this.#give(bare !== text && isVerse(bare.split('\n')) ? bare : text, false);
  }

  /** @returns true for a block that may be a line of verse */
  #takeLine(text: string, bare: string, block: Frame | undefined): boolean {
    if (this.#goesOn || !block || block.hasBlocks || block.end) return false;
    const container = this.#frames[this.#frames.lastIndexOf(block) - 1];
    if (block.language !== (container?.language ?? '')) return false;
    const line = { text, bare, place: this.#place ?? this.#rules.place() };
    if (this.#stanza.take(line, container)) return true;
    this.#endStanza();
    return this.#stanza.take(line, container);
  }

  #endStanza(): void {
    for (const { text, place } of this.#stanza.end()) this.#giveAt(place, text, false);
  }

  #endRow(): void {
    const row = this.#row;
    this.#row = undefined;
    if (row) this.#giveTight(row.take(), row);
    this.#place = undefined;
  }

  #giveTight(texts: readonly string[], { place }: Pick<Row, 'place'>): void {
    for (const text of texts) {
      this.#place = place;
      this.#give(withFullStop(text), true);
    }
  }

  #giveBeginning(): void {
    const text = this.#inline.takeBeginning();
    if (text === '') return;
    const place = this.#place;
    if (this.#row) this.#giveTight(this.#row.giveUp(), this.#row);
    this.#place = place;
    this.#give(text, false);
    this.#goesOn = true;
  }

  #give(text: string, isTight: boolean): void {
    const place = this.#place ?? this.#rules.place();
    this.#endStanza();
    this.#giveAt(place, text, isTight);
    this.#place = undefined;
  }

  #giveAt(place: Place, text: string, isTight: boolean): void {
    if (this.#goesOn) this.#rules.piece({ kind: 'text', text: ' ', place });
    else if (!this.#isFirst && isTight && this.#wasTight)
      this.#rules.piece({ kind: 'text', text: '\n', place });
    else if (!this.#isFirst) this.#rules.piece({ kind: 'paragraph' });
    const marked = this.#goesOn ? text : this.#blockLanguage + text;
    for (const piece of inSteps(marked, place)) this.#rules.piece(piece);
    this.#isFirst = false;
    this.#wasTight = isTight;
  }
}

interface Frame {
  readonly name: string;
  readonly isBlock: boolean;
  /** It says that it is code. */
  readonly isListing: boolean;
  /** Blocks have begun inside of it. */
  hasBlocks: boolean;
  /** The name of a speaker in a play begins at this place of the text. */
  readonly nameAt: number | undefined;
  /** What may be the large first letter of a word begins at this place of the text. */
  readonly initialAt: number | undefined;
  /** The placeholder of the language of its text. */
  readonly language: string;
  readonly end: (() => void) | undefined;
}

/** UTF-16 units. A row with more text is read cell by cell. */
const LONGEST_ROW = 2000;

class Row {
  /** Each cell has blocks. */
  readonly #cells: string[][] = [];
  #length = 0;
  /** Of its first words. */
  place: Place | undefined;

  startCell(): void {
    this.#cells.push([]);
  }

  get isLong(): boolean {
    return this.#length > LONGEST_ROW;
  }

  /** @returns all blocks so far if the row has become a long one */
  add(block: string, place: Place | undefined): readonly string[] {
    this.place ??= place;
    if (this.#cells.length === 0) this.startCell();
    this.#cells.at(-1)?.push(block);
    this.#length += block.length;
    return this.isLong ? this.giveUp() : [];
  }

  /** @returns all blocks so far; those that follow are no part of the row */
  giveUp(): readonly string[] {
    this.#length = Number.POSITIVE_INFINITY;
    return this.#cells.splice(0).flat();
  }

  /** @returns the row as one sentence, or its blocks if a cell holds several */
  take(): readonly string[] {
    const blocks = this.#cells.splice(0);
    const isSimple = blocks.every(({ length }) => length <= 1);
    return isSimple ? [rowOf(blocks.flat())].filter((text) => text !== '') : blocks.flat();
  }
}
