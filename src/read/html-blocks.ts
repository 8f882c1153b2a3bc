/** Converts the elements of HTML into pieces, block by block. `html-inline.ts` collects the text of a block. */
import { withFullStop } from '../text/marks.ts';
import { inSteps, type Piece, type Place } from '../text/piece.ts';
import { wordKey } from '../text/unicode.ts';
import {
  type Attributes,
  BLOCKS,
  codeOmitted,
  declaresNote,
  declaresReference,
  describesNothing,
  headingLevel,
  isCode,
  isInitial,
  isListing,
  isPageNumber,
  isRaised,
  isShownAsBlock,
  isSilent,
  isSpeakerName,
  languageOfCode,
  leadsBack,
  localName,
  meaningsOf,
  pageNamedBy,
  rowOf,
  SENTENCE_LIKE,
  TIGHT,
  UNSHOWN_IN_SVG,
} from './html-elements.ts';
import { Inline } from './html-inline.ts';
import { endLink, endRaised, type Notes } from './html-notes.ts';
import { isLineNumber, isVerse, Stanza, withoutLineNumbers } from './html-verse.ts';
import type { HtmlOptions, LanguageMark } from './reading.ts';
import { mathWords } from './tex.ts';

export interface ChapterStart {
  readonly title: string | undefined;
  /** 1 is the highest. */
  readonly level: number;
}

/** Decisions and callbacks of the reader that owns the document. */
export interface Rules {
  readonly notes?: Notes | undefined;
  /** True for an element to leave out, in addition to invisible ones. */
  leavesOut?(name: string, attributes: Attributes, meanings: readonly string[]): boolean;
  /** Returns the chapter that begins at the element with this id. */
  chapterAt?(id: string): ChapterStart | undefined;
  languageMark?: LanguageMark | undefined;
  /** The language of the document, unless its root states one. */
  readonly language?: string | undefined;
  place(): Place;
  piece(piece: Piece): void;
}

/** UTF-16 units. A longer block is emitted in parts. */
const LONGEST_BLOCK = 32_768;

const SCENE = /^(?:[*⁂•·#~—–_+=◆❦☙✻✽§◊○●☆★-]\s*)+$/u;

/** Blocks that may be lines of verse. */
const LINES: ReadonlySet<string> = new Set(['div', 'p']);

/** Converts elements and their text into pieces. */
export class Blocks {
  readonly #options: HtmlOptions;
  readonly #rules: Rules;
  readonly #frames: Frame[] = [];
  readonly #inline = new Inline();
  /** The number of open elements within a silent one, including that one. */
  #silent = 0;
  #pre = 0;
  /** True if the current drawing declares itself a picture. */
  #isPicture = false;
  /** The number of pictures and drawings so far, described or not. */
  pictures = 0;
  /** The description of the previous picture: a decoration repeats it. */
  #lastAlt: string | undefined;
  /** The words of a description in the current block, and those of the previous block if it is only a description. */
  #described = '';
  #describedBefore = '';
  /** True if the `pre` is code that is not read. */
  #isListing = false;
  /** True if the open link contains raised text. */
  #hasRaised = false;
  #heading: number | undefined;
  #row: Row | undefined;
  #place: Place | undefined;
  #isFirst = true;
  /** True if the previous block was a list item or a table row. */
  #wasTight = false;
  /** True if a part of the block was already emitted. */
  #isContinued = false;
  /** True if the block only has the name of a speaker so far, whose words follow. */
  #isNamed = false;
  /** True if the block is a note that is not read here. */
  #isNote = false;
  readonly #stanza = new Stanza();
  /** Texts of inline elements in the block that may be line numbers. */
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
      nameAt: isSpeakerName(meanings) ? mark : undefined,
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
    if (this.#inline.length > LONGEST_BLOCK) this.#emitBeginning();
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

  /** @returns the placeholder of the element's language; "" for an unknown one */
  #languageOf(name: string, { 'xml:lang': xml, lang = xml }: Attributes): string {
    const { languageMark, language } = this.#rules;
    const around = this.#frames.at(-1)?.language;
    if (!languageMark) return '';
    const isWhole = name === 'html' || name === 'body';
    if (lang !== undefined) return languageMark(lang.trim() || undefined, isWhole);
    return around ?? languageMark(language, true);
  }

  /** Sets the language of the text that follows, at the start and the end of an element. */
  #speak(isBlock: boolean): void {
    if (!this.#rules.languageMark) return;
    const language = this.#frames.at(-1)?.language ?? '';
    this.#inline.speak(language, isBlock ? this.#blockLanguage : undefined);
  }

  /** The placeholder of the innermost block's language. */
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

  /** @returns true if the element is a block and a note; an inline note instead makes a note of the block that it begins */
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
    if (!this.#options.readsNotes && declaresNote(name, attributes, meanings)) return true;
    if (name === 'rt') return !this.#options.speaksReadings;
    if (name === 'math') this.#inline.describe(mathWords(attributes.alttext, this.#options.math));
    return name === 'math' || (name === 'case' && this.#frames.at(-1)?.name === 'switch');
  }

  /**
   * A drawing is described by its label, or else by its title if it declares itself a picture.
   * @returns `undefined` for what is not part of a drawing, or is handled as elsewhere
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

  /** Announces a block of code that is left out, once. */
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

  /** @returns what to do at the end of the element */
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
    const isReference = declaresReference(attributes, meanings);
    const page = name === 'a' || name === 'span' ? pageNamedBy(attributes) : undefined;
    const isLink = name === 'a' && attributes.href !== undefined;
    if (!isReference && page === undefined && !isLink) return undefined;
    const start = inline.mark;
    this.#hasRaised = false;
    const link = { href: attributes.href ?? '', declaresReference: isReference };
    return () => {
      if (isPageNumber(inline.from(start) ?? '', page)) inline.cut(start);
      else endLink(inline, start, link, this.#rules.notes);
      if (this.#hasRaised) endRaised(inline, start);
    };
  }

  /** Whether a link leads to a note is only known at its end, so raised text in a link waits for that. */
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
    const block = this.#frames.findLast(({ isBlock }) => isBlock);
    if (block && alt.length > 1) block.hasBlocks = true;
    this.#described = wordKey(alt);
    this.#inline.picture(alt);
  }

  /** Makes a drawing's description of the text from this mark on. */
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

  /** @param maybeLine true for a block that may continue the stanza */
  #startBlock(maybeLine: boolean): void {
    const around = this.#frames.findLast((frame) => frame.isBlock);
    if (around) around.hasBlocks = true;
    this.#border();
    if (!maybeLine) this.#endStanza();
  }

  /** Ends a block, or a line if the block is in a heading. */
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
    // Books also write the signs between two scenes as a heading, FictionBook as a subtitle.
    if (SCENE.test(text)) return void this.#scene();
    this.#endRow();
    this.#place = place;
    this.#endStanza();
    if (!this.#isFirst) this.#rules.piece({ kind: 'paragraph' });
    this.#isFirst = true;
    this.#rules.piece({ kind: 'heading', level });
    this.#emit(withFullStop(text), false);
    this.#rules.piece({ kind: 'heading', level });
  }

  /** @param isLast false if a drop cap may wait for the next block */
  #endBlock(isLast = false): void {
    const waits = this.#isNamed || this.#inline.isLoneInitial;
    if (this.#inline.length === 0 || (waits && !isLast)) return;
    this.#isNamed = false;
    const text = this.#inline.take();
    const numbers = this.#numbers.splice(0);
    const isNote = this.#isNote;
    this.#isNote = false;
    if (text === '') return;
    if (!isNote && !this.#isCaptionSaid(text)) this.#emitBlock(text, numbers);
    this.#isContinued = false;
    this.#place = undefined;
  }

  /** True for a caption that repeats the description of its picture. */
  #isCaptionSaid(text: string): boolean {
    const [described, before] = [this.#described, this.#describedBefore];
    const words = described === '' && before === '' ? '' : wordKey(text);
    this.#described = '';
    this.#describedBefore = words === described ? words : '';
    return words !== '' && words === before && described === '';
  }

  #emitBlock(text: string, numbers: readonly string[]): void {
    const block = this.#frames.findLast(({ isBlock }) => isBlock);
    const { name } = block ?? { name: 'body' };
    const bare = withoutLineNumbers(text, numbers);
    if (this.#row && !this.#row.isLong)
      this.#emitTight(this.#row.add(this.#blockLanguage + text, this.#place), this.#row);
    else if (SCENE.test(text)) this.#scene();
    else if (SENTENCE_LIKE.has(name)) this.#emit(withFullStop(text), TIGHT.has(name));
    else if (!LINES.has(name) || !this.#takeLine(text, bare, block))
      this.#emit(bare !== text && isVerse(bare.split('\n')) ? bare : text, false);
  }

  /** @returns true if the stanza took the block as a line */
  #takeLine(text: string, bare: string, block: Frame | undefined): boolean {
    if (this.#isContinued || !block || block.hasBlocks || block.end) return false;
    const container = this.#frames[this.#frames.lastIndexOf(block) - 1];
    if (block.language !== (container?.language ?? '')) return false;
    const line = { text, bare, place: this.#place ?? this.#rules.place() };
    if (this.#stanza.take(line, container)) return true;
    this.#endStanza();
    return this.#stanza.take(line, container);
  }

  #endStanza(): void {
    for (const lines of this.#stanza.end())
      for (const [at, { text, place }] of lines.entries())
        if (at === 0) this.#emitAt(place, text, false);
        else this.#emitLine(place, text);
  }

  /** Adds a line with its own place: a page may leave out the element of one line and not that of the next. */
  #emitLine(place: Place, text: string): void {
    this.#rules.piece({ kind: 'text', text: ' ', place });
    for (const piece of inSteps(text, place)) this.#rules.piece(piece);
  }

  #endRow(): void {
    const row = this.#row;
    this.#row = undefined;
    if (row) this.#emitTight(row.take(), row);
    this.#place = undefined;
  }

  #emitTight(texts: readonly string[], { place }: Pick<Row, 'place'>): void {
    for (const text of texts) {
      this.#place = place;
      this.#emit(withFullStop(text), true);
    }
  }

  #emitBeginning(): void {
    const text = this.#inline.takeBeginning();
    if (text === '') return;
    const place = this.#place;
    if (this.#row) this.#emitTight(this.#row.giveUp(), this.#row);
    this.#place = place;
    this.#emit(text, false);
    this.#isContinued = true;
  }

  #emit(text: string, isTight: boolean): void {
    const place = this.#place ?? this.#rules.place();
    this.#endStanza();
    this.#emitAt(place, text, isTight);
    this.#place = undefined;
  }

  #emitAt(place: Place, text: string, isTight: boolean): void {
    if (this.#isContinued) this.#rules.piece({ kind: 'text', text: ' ', place });
    else if (!this.#isFirst && isTight && this.#wasTight)
      this.#rules.piece({ kind: 'text', text: '\n', place });
    else if (!this.#isFirst) this.#rules.piece({ kind: 'paragraph' });
    const marked = this.#isContinued ? text : this.#blockLanguage + text;
    for (const piece of inSteps(marked, place)) this.#rules.piece(piece);
    this.#isFirst = false;
    this.#wasTight = isTight;
  }
}

interface Frame {
  readonly name: string;
  readonly isBlock: boolean;
  /** True if the element declares itself code. */
  readonly isListing: boolean;
  /** True if blocks or described pictures have begun inside the element, so that it cannot be a line of verse. */
  hasBlocks: boolean;
  /** The mark where the name of a speaker in a play begins. */
  readonly nameAt: number | undefined;
  /** The mark where a drop cap may begin. */
  readonly initialAt: number | undefined;
  /** The placeholder of the language of its text. */
  readonly language: string;
  readonly end: (() => void) | undefined;
}

/** UTF-16 units. A longer row is read cell by cell. */
const LONGEST_ROW = 2000;

class Row {
  /** The blocks of each cell. */
  readonly #cells: string[][] = [];
  #length = 0;
  /** The place of the row's first words. */
  place: Place | undefined;

  startCell(): void {
    this.#cells.push([]);
  }

  get isLong(): boolean {
    return this.#length > LONGEST_ROW;
  }

  /** @returns all blocks so far once the row has become too long */
  add(block: string, place: Place | undefined): readonly string[] {
    this.place ??= place;
    if (this.#cells.length === 0) this.startCell();
    this.#cells.at(-1)?.push(block);
    this.#length += block.length;
    return this.isLong ? this.giveUp() : [];
  }

  /** @returns all blocks so far; the following ones are not collected */
  giveUp(): readonly string[] {
    this.#length = Number.POSITIVE_INFINITY;
    return this.#cells.splice(0).flat();
  }

  /** @returns the row as one sentence, or its blocks if a cell has several */
  take(): readonly string[] {
    const blocks = this.#cells.splice(0);
    const isSimple = blocks.every(({ length }) => length <= 1);
    return isSimple ? [rowOf(blocks.flat())].filter((text) => text !== '') : blocks.flat();
  }
}
