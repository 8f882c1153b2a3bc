import { endsLikeProse } from '../text/lines.ts';
import { endsSentence, withFullStop } from '../text/marks.ts';
import { inSteps, labelOf, type Piece, type Place, writtenOf } from '../text/piece.ts';
import { inTurn, type Stage, through } from '../text/stage.ts';
import { hasWord } from '../text/unicode.ts';
import {
  type Attributes,
  BLOCKS,
  type ChapterStart,
  CLOSED,
  endLink,
  type Frame,
  FURNITURE_ROLES,
  headingLevel,
  Inline,
  isInitial,
  isPageNumber,
  isPersona,
  isShownAsBlock,
  isSilent,
  leadsBack,
  localName,
  meaningsOf,
  type Notes,
  PAGE_FURNITURE,
  pageNamedBy,
  type Rules,
  saysNote,
  saysReference,
  skippedNotes,
  TIGHT,
} from './html-inline.ts';
import { FoundNotes, indexed, NamedNotes } from './html-notes.ts';
import { Markup, MarkupDecoder, scanned } from './html-parse.ts';
import type { HtmlOptions, PieceOptions, Reading, Source } from './reading.ts';
import { everyTime } from './source.ts';

/** UTF-16 units. A row with more text is read cell by cell. */
const LONGEST_ROW = 2000;

/** One row of a table, while it is read. */
export class Row {
  /** Each cell has blocks. */
  readonly #cells: string[][] = [];
  #length = 0;

  startCell(): void {
    this.#cells.push([]);
  }

  /** True for a row that takes nothing more. */
  get isLong(): boolean {
    return this.#length > LONGEST_ROW;
  }

  /** @returns all blocks so far if the row has become a long one */
  add(block: string): readonly string[] {
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
    return isSimple ? [joined(blocks.flat())].filter((text) => text !== '') : blocks.flat();
  }
}

function joined(parts: readonly string[]): string {
  return parts.reduce(
    (said, part) => (said === '' ? part : said + (endsSentence(said) ? ' ' : ', ') + part),
    '',
  );
}

/** UTF-16 units. A longer line is prose. */
const LONGEST_LINE = 80;
/** Two short paragraphs are no stanza, unless they or verse before them have numbers of lines. */
const FEWEST_LINES = 3;
/** A stanza that is longer is given out in parts. */
const MOST_LINES = 64;
/** The share of lines that break off inside a sentence. */
const OPEN_LINES = 1 / 3;
/** The share of lines that end at a comma, where the last one does not end a sentence. */
const COMMAS = 1 / 8;
/** The share of words in lower case. Names, addresses and titles have fewer. */
const LOWER_WORDS = 0.45;
/** Words in a line. Labels and signatures have fewer. */
const FEWEST_WORDS = 3;

/** The number of a line stands at each fifth or tenth one. */
const STEP = 5;
const MOST_STEP = 20;

/** True for what may be the number of a line of verse. */
function isLineNumber(text: string): boolean {
  return /^\d{1,4}$/.test(text) && Number(text) > 0 && Number(text) % STEP === 0;
}

/** True for lines that break off inside sentences, as verse does, and that are not names, items or addresses. */
function isVerse(lines: readonly string[]): boolean {
  return breaksOff(lines) && hasWords(lines) && (endsLikeProse(lines.at(-1) ?? '') || hasCommas(lines));
}

function breaksOff(lines: readonly string[]): boolean {
  if (lines.length < 2 || lines.some(({ length }) => length > LONGEST_LINE)) return false;
  const open = lines.slice(0, -1).filter((line) => !endsLikeProse(line));
  return open.length >= OPEN_LINES * (lines.length - 1);
}

function hasWords(lines: readonly string[]): boolean {
  const words = lines.flatMap((line) => line.split(' ').filter((word) => /^\P{L}{0,3}\p{L}/u.test(word)));
  const lower = words.filter((word) => /^\P{L}{0,3}\p{Ll}/u.test(word));
  return words.length >= FEWEST_WORDS * lines.length && lower.length >= LOWER_WORDS * words.length;
}

function hasCommas(lines: readonly string[]): boolean {
  const commas = lines.filter((line) => /[,;:—–-]["'”’)]{0,3}$/u.test(line));
  return commas.length >= COMMAS * lines.length;
}

interface Line<P> {
  readonly text: string;
  /** The same without the number of a line. */
  readonly bare: string;
  readonly place: P;
}

/** Holds short blocks that follow each other in one container, until it is known whether they are lines of verse. */
class Stanza<P> {
  #container: object | undefined;
  #lines: Line<P>[] = [];
  /** The last number of a line. */
  #number = Number.POSITIVE_INFINITY;

  /**
   * @param container the element around the block
   * @returns false for a block that begins no stanza
   */
  take(line: Line<P>, container: object | undefined): boolean {
    if (!this.#goesOn(line, container)) return false;
    this.#container = container;
    this.#lines.push(line);
    return true;
  }

  /** A stanza is taken to begin inside a sentence. */
  #goesOn({ text, bare }: Line<P>, container: object | undefined): boolean {
    if (text.includes('\n') || bare.length > LONGEST_LINE || this.#lines.length === MOST_LINES) return false;
    if (this.#lines.length > 0) return this.#container === container;
    return !endsLikeProse(bare) || bare !== text;
  }

  isIn(container: object | undefined): boolean {
    return this.#lines.length > 0 && this.#container === container;
  }

  /** @returns the lines as one text if they are verse, otherwise each of them */
  end(): readonly Pick<Line<P>, 'text' | 'place'>[] {
    const lines = this.#lines;
    this.#lines = [];
    const [first] = lines;
    if (!first) return [];
    const bare = lines.map((line) => line.bare);
    const numbers = lines.flatMap(({ text, bare }) => (text === bare ? [] : [numberIn(text, bare)]));
    // Numbers that go on from those of earlier verse prove it as well.
    const isCounted = numbers.some((number) => number - this.#number <= MOST_STEP && number > this.#number);
    const isNumbered = numbers.length > 0 || Number.isFinite(this.#number);
    const mayBeVerse = isNumbered || lines.length >= FEWEST_LINES;
    if (!isCounted && !(mayBeVerse && isVerse(bare))) return lines;
    this.#number = numbers.at(-1) ?? this.#number;
    if (isVerse(bare) || breaksOff(bare)) return [{ text: bare.join(' '), place: first.place }];
    return lines.map(({ bare: text, place }) => ({ text, place }));
  }
}

function numberIn(text: string, bare: string): number {
  return Number(text.replace(bare, ''));
}

/** @returns the text of a block without the numbers of its lines, or the same text where it is not verse */
function withoutLineNumbers(text: string, numbers: readonly string[]): string {
  if (numbers.length === 0) return text;
  return text
    .split('\n')
    .map((line) => {
      const number = numbers.find((each) => line.endsWith(each) || line.startsWith(each));
      if (number === undefined) return line;
      return line.endsWith(number)
        ? line.slice(0, line.length - number.length).trimEnd()
        : line.slice(number.length).trimStart();
    })
    .join('\n');
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
  #heading: number | undefined;
  #row: Row | undefined;
  #place: Place | undefined;
  #isFirst = true;
  /** The block before was an item or a row. */
  #wasTight = false;
  /** The block before goes on. */
  #goesOn = false;
  /** All there is of the block is the name of a speaker, whose words follow. */
  #isNamed = false;
  /** The block is a note that is not read here. */
  #isNote = false;
  readonly #stanza = new Stanza<Place>();
  /** Texts of elements in the block that may be numbers of lines. */
  #numbers: string[] = [];

  constructor(options: HtmlOptions, rules: Rules) {
    this.#options = options;
    this.#rules = rules;
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
    const isBlock = BLOCKS.has(name) || isShownAsBlock(attributes);
    if (isBlock) this.#startBlock(LINES.has(name) && meanings.length === 0);
    if (this.#startsNote(id, isBlock) || this.#isUnspoken(name, attributes, meanings)) this.#silent = 1;
    else {
      const { mark } = this.#inline;
      const nameAt = isPersona(meanings) ? mark : undefined;
      const initialAt = isInitial(attributes) ? mark : undefined;
      const end = this.#begin(name, attributes, meanings);
      this.#frames.push({ name, isBlock, hasBlocks: false, nameAt, initialAt, end });
    }
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
  }

  /** The end of the document. */
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
    if (isSilent(name, attributes, meanings)) return true;
    if (this.#rules.leavesOut?.(name, attributes, meanings)) return true;
    if (leadsBack(attributes, meanings)) return true;
    if (!this.#options.readsNotes && saysNote(name, attributes, meanings)) return true;
    if (name === 'rt') return !this.#options.speaksReadings;
    if (name === 'math') this.#inline.describe(attributes.alttext?.trim() || 'formula');
    return name === 'math' || (name === 'case' && this.#frames.at(-1)?.name === 'switch');
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
    const isReference = saysReference(attributes, meanings);
    const page = name === 'a' || name === 'span' ? pageNamedBy(attributes) : undefined;
    if (isReference || page !== undefined || (name === 'a' && attributes.href !== undefined)) {
      const start = inline.mark;
      const link = { href: attributes.href ?? '', saysReference: isReference };
      return () => {
        if (isPageNumber(inline.from(start) ?? '', page)) inline.cut(start);
        else endLink(inline, start, link, this.#rules.notes);
      };
    }
    const end = this.#rules.enter?.(name, meanings);
    return end || BLOCKS.has(name) ? end : this.#lineNumber(inline.mark);
  }

  #lineNumber(start: number): () => void {
    return () => {
      const text = this.#inline.from(start) ?? '';
      if (isLineNumber(text)) this.#numbers.push(text);
    };
  }

  #picture({ alt }: Attributes, meanings: readonly string[]): void {
    if (!alt || meanings.includes('presentation') || meanings.includes('none')) return;
    this.#place ??= this.#rules.place();
    this.#inline.picture(alt);
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
    this.#heading = undefined;
    if (text === '') return;
    this.#endRow();
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
    if (this.#row && !this.#row.isLong) this.#giveTight(this.#row.add(text));
    else if (SCENE.test(text)) this.#scene();
    else if (CLOSED.has(name)) this.#give(withFullStop(text), TIGHT.has(name));
    else if (!LINES.has(name) || !this.#takeLine(text, bare, block))
      this.#give(bare !== text && isVerse(bare.split('\n')) ? bare : text, false);
  }

  /** @returns true for a block that may be a line of verse */
  #takeLine(text: string, bare: string, block: Frame | undefined): boolean {
    if (this.#goesOn || !block || block.hasBlocks || block.end) return false;
    const container = this.#frames[this.#frames.lastIndexOf(block) - 1];
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
    if (row) this.#giveTight(row.take());
    this.#place = undefined;
  }

  #giveTight(texts: readonly string[]): void {
    for (const text of texts) this.#give(withFullStop(text), true);
  }

  #giveBeginning(): void {
    const text = this.#inline.takeBeginning();
    if (text === '') return;
    if (this.#row) this.#giveTight(this.#row.giveUp());
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
    for (const piece of inSteps(text, place)) this.#rules.piece(piece);
    this.#isFirst = false;
    this.#wasTight = isTight;
  }
}

type Scope = 'main' | 'article' | 'body' | 'form';

interface Held {
  readonly piece: Piece;
  readonly scope: Scope;
}

/** UTF-16 units. More is not held: the whole body is read then. */
const MOST_HELD = 4 * 1024 * 1024;
/** What holding a piece costs besides its text, in the same unit. */
const PER_PIECE = 16;

/**
 * The text of a web page: its main part, otherwise its only article, otherwise its body without the forms. Only at the end it is
 * known that there is no main part, so everything before it is held.
 */
export class Page {
  readonly #markup: Markup;
  readonly #blocks: Blocks;
  readonly #open: Scope[] = [];
  #articles = 0;
  #held: Held[] = [];
  #heldUnits = 0;
  #ready: Piece[] = [];
  #chosen: Scope | undefined;

  /** @param notes those that were found before, where the page can be read twice */
  constructor(name: string, options: HtmlOptions, notes?: Notes) {
    this.#blocks = new Blocks(options, {
      notes,
      leavesOut: (element, { role }) =>
        PAGE_FURNITURE.has(element) || (role !== undefined && FURNITURE_ROLES.has(role.trim())),
      enter: (element, meanings) => this.#enter(element, meanings),
      place: (): Place => ({ source: name, line: this.#markup.line }),
      piece: (piece) => this.#add(piece),
    });
    this.#markup = new Markup(this.#blocks, name);
  }

  *push(text: string): Generator<Piece> {
    this.#markup.write(text);
    yield* this.#ready.splice(0);
  }

  *end(): Generator<Piece> {
    this.#markup.end();
    this.#blocks.end();
    if (this.#chosen === undefined) this.#choose(this.#best());
    yield* this.#ready.splice(0);
  }

  #enter(element: string, meanings: readonly string[]): (() => void) | undefined {
    const scope = meanings.includes('main') ? 'main' : element;
    if (scope !== 'main' && scope !== 'article' && scope !== 'form') return undefined;
    if (scope === 'article' && !this.#open.includes('article')) this.#articles += 1;
    this.#open.push(scope);
    return () => void this.#open.pop();
  }

  #add(piece: Piece): void {
    const scope = this.#scope();
    if (this.#chosen !== undefined) {
      if (isIn(scope, this.#chosen)) this.#ready.push(piece);
      return;
    }
    this.#held.push({ piece, scope });
    this.#heldUnits += writtenOf(piece).length + PER_PIECE;
    if (scope === 'main' && piece.kind === 'text' && hasWord(piece.text)) this.#choose('main');
    else if (this.#heldUnits > MOST_HELD) this.#choose(this.#best());
  }

  #scope(): Scope {
    const has = (scope: Scope) => this.#open.includes(scope);
    if (has('main')) return 'main';
    if (has('form')) return 'form';
    return has('article') ? 'article' : 'body';
  }

  #choose(chosen: Scope): void {
    this.#chosen = chosen;
    for (const { piece, scope } of this.#held) if (isIn(scope, chosen)) this.#ready.push(piece);
    this.#held = [];
  }

  #best(): Scope {
    const speaks = (chosen: Scope) =>
      this.#held.some(({ piece, scope }) => isIn(scope, chosen) && hasWord(writtenOf(piece)));
    if (this.#articles === 1 && speaks('article')) return 'article';
    return speaks('body') ? 'body' : 'form';
  }
}

function isIn(scope: Scope, chosen: Scope): boolean {
  const inside = {
    main: ['main'],
    article: ['article'],
    body: ['article', 'body', 'main'],
    form: ['article', 'body', 'form', 'main'],
  };
  return inside[chosen].includes(scope);
}

/** @throws TtsError (usage) for what is not text */
export async function openHtml(source: Source, options: HtmlOptions, signal: AbortSignal): Promise<Reading> {
  const label = labelOf(source.name);
  const found = source.again && (await notesIn(label, source.again, options, signal));
  const bytes = everyTime(source);
  return {
    source,
    pieces(until, how) {
      const notes = found?.of('', new Set()) ?? new NamedNotes(options.readsNotes);
      return read(bytes(until), { page: new Page(source.name, options, notes), notes, label }, how);
    },
  };
}

interface Desk {
  readonly page: Stage<string, Piece>;
  readonly notes: Notes;
  readonly label: string;
}

async function* read(
  bytes: AsyncIterable<Uint8Array>,
  { page, notes, label }: Desk,
  { inFront, onRemark }: PieceOptions = {},
): AsyncGenerator<Piece> {
  const decoder = new MarkupDecoder(label);
  yield* through(bytes, inTurn(inFront ? inTurn(decoder, inFront) : decoder, page));
  const remark = skippedNotes(notes.skipped);
  if (remark !== undefined) onRemark?.(remark);
}

/** Reads the page to its end. */
async function notesIn(
  name: string,
  again: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  { readsNotes }: HtmlOptions,
  signal: AbortSignal,
): Promise<FoundNotes> {
  const characters = () => through(again(signal), new MarkupDecoder(name));
  const notes = new FoundNotes({
    readsNotes,
    resolve: (href) => (href.startsWith('#') ? { path: '', fragment: href.slice(1) } : undefined),
    index: () => indexed(characters(), name),
  });
  const { links } = await scanned(characters(), new Set());
  await notes.prepare('', links);
  return notes;
}
