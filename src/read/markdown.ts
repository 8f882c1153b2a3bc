import type { Token } from 'markdown-it';
import { type TtsError, usageError } from '../kit/error.ts';
import { WAITS } from '../text/complete.ts';
import { endsSentence, withFullStop } from '../text/marks.ts';
import { inSteps, type Piece, type Place } from '../text/piece.ts';
import { inTurn, type Stage, through } from '../text/stage.ts';
import { countLineBreaks, fitting } from '../text/unicode.ts';
import { LEFT, settledInline, spokenInline, TableReader, withoutSpoken } from './markdown-inline.ts';
import {
  type Definitions,
  frontMatterLength,
  MarkdownDocument,
  type MarkdownOptions,
} from './markdown-parser.ts';
import type { Reading, ReadingOptions, Source } from './reading.ts';
import { openCharacters } from './source.ts';

function labelsIn(text: string): readonly string[] {
  return [...text.matchAll(/\[\^([^\s[\]]+)\]/gu)].map(([, label = '']) => label);
}

/** The notes of a document that is read once. */
class Footnotes {
  readonly #how: MarkdownOptions['footnotes'];
  readonly #notes = new Map<string, string>();
  readonly #said = new Set<string>();
  readonly #spoken: (text: string) => string;

  constructor(document: MarkdownDocument, { footnotes: how, math }: MarkdownOptions) {
    this.#how = how;
    this.#spoken = (text) => spokenInline(document.inline(text), { math });
    const { notes, texts } = contentsOf(document.blocks);
    const labels = notes.size === 0 || how === 'skip' ? [] : texts.flatMap(labelsIn);
    const referred = new Set(labels);
    for (const [label, contents] of notes)
      if (how === 'skip' || referred.has(label))
        this.#notes.set(label, contents.map((each) => this.#spoken(each)).join(' '));
  }

  has(label: string): boolean {
    return this.#notes.has(label);
  }

  /**
   * A note is said once, at the first of its references.
   * @param said the text before the reference, or before a note that stands in the text
   */
  noteAfter(said: string, { type, content, meta }: Token): string {
    if (this.#how === 'skip') return '';
    const note = type === 'inline_note' ? this.#spoken(content) : this.#take(String(meta?.label));
    if (!note) return '';
    return endsSentence(said) ? ` ${withFullStop(note)}` : ` (${note.replace(/\.$/u, '')})`;
  }

  #take(label: string): string | undefined {
    if (this.#said.has(label)) return undefined;
    this.#said.add(label);
    return this.#notes.get(label);
  }
}

function contentsOf(blocks: readonly Token[]) {
  const notes = new Map<string, string[]>();
  const texts: string[] = [];
  let contents = texts;
  for (const { type, content, meta } of blocks) {
    if (type === 'footnote_reference_open') {
      contents = [];
      notes.set(String(meta?.label), contents);
    }
    if (type === 'footnote_reference_close') contents = texts;
    else if (type === 'inline') contents.push(content);
  }
  return { notes, texts };
}

/** What is between two blocks: nothing, a part of the same paragraph, a tight item or row, a paragraph. */
type Gap = '' | ' ' | '\n' | '\n\n';

export interface SpokenBlock {
  /** A change of scene has no text. */
  readonly kind: 'text' | 'heading' | 'scene';
  /** 1 is the highest heading, 0 stands for other blocks. */
  readonly level: number;
  readonly gap: Gap;
  readonly text: string;
  /** It begins in this line of the source, from 0. */
  readonly line: number;
}

interface BlockOptions extends MarkdownOptions {
  /** True if the last paragraph goes on: it gets no full stop. */
  readonly isOpen?: boolean | undefined;
}

export function* spokenBlocks(document: MarkdownDocument, options: BlockOptions): Generator<SpokenBlock> {
  let isFirst = true;
  for (const { kind, level, text, line, isTight, goesOn } of new BlockReader(document, options).read()) {
    const border = isTight ? '\n' : '\n\n';
    yield { kind, level, gap: goesOn ? ' ' : isFirst ? '' : border, text, line };
    isFirst &&= kind === 'scene';
  }
}

/** UTF-16 units of inline text that are parsed at once: 20 ms for any text. */
const LONGEST_INLINE = 8192;

interface Block extends Omit<SpokenBlock, 'gap'> {
  /** True if it shares a paragraph with the block before. */
  readonly isTight: boolean;
  /** True for a further part of a long paragraph. */
  readonly goesOn: boolean;
}

type Rule = (token: Token, at: number) => string | undefined;

class BlockReader {
  readonly #document: MarkdownDocument;
  readonly #code: MarkdownOptions['code'];
  readonly #math: MarkdownOptions['math'];
  readonly #footnotes: Footnotes;
  #isSkipping = false;
  #lists = 0;
  #table: TableReader | undefined;
  /** An item's number, a footnote's label. */
  #lead = '';
  #isTight = false;
  #isContinued = false;
  #endsLikeSentence = false;
  #level = 0;
  /** The number of the token that goes on. */
  readonly #open: number;

  constructor(document: MarkdownDocument, options: BlockOptions) {
    this.#document = document;
    this.#open = options.isOpen ? document.blocks.findLastIndex(({ type }) => type === 'inline') : -1;
    this.#code = options.code;
    this.#math = options.math;
    this.#footnotes = new Footnotes(document, options);
  }

  *read(): Generator<Block> {
    let line = 0;
    for (const [at, token] of this.#document.blocks.entries()) {
      line = token.map?.[0] ?? line;
      if (this.#skips(token)) continue;
      if (token.type === 'hr')
        yield { kind: 'scene', level: 0, text: '', line, isTight: false, goesOn: false };
      let goesOn = false;
      for (const part of this.#partsOf(token)) {
        const text = this.#textOf(part, at);
        if (!text) continue;
        const isTight = this.#isTight && this.#isContinued;
        const level = this.#level;
        const kind = level > 0 ? 'heading' : 'text';
        yield { kind, level, text: this.#lead + text, line, isTight, goesOn };
        goesOn = true;
        this.#lead = '';
        this.#isContinued = true;
      }
    }
  }

  #textOf(token: Token, at: number): string | undefined {
    const rule = Object.hasOwn(this.#rules, token.type) ? this.#rules[token.type] : undefined;
    return rule?.(token, at) || this.#tooDeep(token);
  }

  /** A mark that spans two parts of a long paragraph is spoken as it stands. */
  *#partsOf(token: Token): Generator<Token> {
    const { content } = token;
    if (token.type !== 'inline' || content.length <= LONGEST_INLINE || this.#table || this.#endsLikeSentence)
      return yield token;
    for (let at = 0; at < content.length; ) {
      const part = partOf(content.slice(at, at + LONGEST_INLINE));
      at += part.length;
      yield { ...token, content: part } as Token;
    }
  }

  /** A footnote that is read elsewhere, or nowhere. */
  #skips({ type, meta }: Token): boolean {
    if (type === 'footnote_reference_open') this.#isSkipping = this.#footnotes.has(String(meta?.label));
    const isSkipped = this.#isSkipping;
    if (type === 'footnote_reference_close') this.#isSkipping = false;
    return isSkipped;
  }

  readonly #rules: Readonly<Record<string, Rule>> = {
    heading_open: ({ tag }) => this.#startHeading(Number(tag.slice(1))),
    paragraph_open: ({ hidden }) => this.#startBlock(this.#lists > 0, hidden),
    inline: ({ content }, at) => this.#inline(content, at),
    html_block: ({ content }) => this.#html(content),
    fence: ({ content, info }) => this.#codeBlock(content, info),
    code_block: ({ content }) => this.#codeBlock(content, ''),
    bullet_list_open: () => this.#enterList(),
    ordered_list_open: () => this.#enterList(),
    bullet_list_close: () => this.#leaveList(),
    ordered_list_close: () => this.#leaveList(),
    list_item_open: ({ info }) => this.#addLead(info === '' ? '' : `${info}. `),
    list_item_close: () => this.#dropLead(),
    footnote_reference_open: ({ meta }) => this.#addLead(`${meta?.label}: `),
    footnote_reference_close: () => this.#dropLead(),
    table_open: () => this.#startTable(),
    tr_open: () => this.#startRow(),
    thead_close: () => this.#table?.endHead(),
    tr_close: (_, at) =>
      this.#document.blocks[at + 1]?.type === 'thead_close' ? undefined : this.#table?.endRow(),
    table_close: () => this.#endTable(),
  };

  #startHeading(level: number): undefined {
    this.#startBlock(true);
    this.#level = level;
  }

  #startBlock(endsLikeSentence: boolean, isTight = false): undefined {
    this.#level = 0;
    this.#endsLikeSentence = endsLikeSentence;
    this.#isTight = isTight;
  }

  #inline(content: string, at: number): string | undefined {
    const container = this.#document.blocks[at - 2]?.type;
    const text = this.#spoken(spokenMarker(content, container));
    if (!this.#table) return this.#endsLikeSentence && at !== this.#open ? withFullStop(text) : text;
    this.#table.cell(text);
    return undefined;
  }

  #html(content: string): string {
    this.#startBlock(false);
    return this.#spoken(content);
  }

  #spoken(markdown: string): string {
    const tokens = this.#document.inline(markdown);
    const noteAfter = (said: string, note: Token) => this.#footnotes.noteAfter(said, note);
    return spokenInline(tokens, { math: this.#math, noteAfter });
  }

  #codeBlock(content: string, info: string): string {
    this.#startBlock(true);
    return spokenCode(content, info, this.#code);
  }

  #enterList(): undefined {
    if (this.#lists === 0) this.#isContinued = false;
    this.#lists += 1;
  }

  #leaveList(): undefined {
    this.#lists -= 1;
  }

  #addLead(lead: string): undefined {
    this.#lead += lead;
  }

  #dropLead(): undefined {
    this.#lead = '';
  }

  #startTable(): undefined {
    this.#table = new TableReader();
    this.#startBlock(true, true);
    this.#isContinued = false;
  }

  #startRow(): undefined {
    this.#table?.startRow();
  }

  #endTable(): string | undefined {
    const text = this.#table?.end();
    this.#table = undefined;
    return text;
  }

  #tooDeep(token: Token): string {
    const text = this.#document.leftOut(token);
    if (text === undefined) return '';
    this.#startBlock(true);
    return this.#spoken(text);
  }
}

/** @param info its first word is the language */
function spokenCode(content: string, info: string, code: MarkdownOptions['code']): string {
  if (code === 'skip') return '';
  if (code === 'read') return content.trim();
  const language = /^[\p{L}\p{N}][\p{L}\p{N}+#.-]{0,30}/u.exec(info.trim())?.[0];
  return language ? `Code in ${language} omitted.` : 'Code omitted.';
}

/**
 * A task's box is silent, an alert's kind is its first word.
 * @param container token type around the paragraph
 */
function spokenMarker(paragraph: string, container: string | undefined): string {
  if (container === 'list_item_open') return paragraph.replace(/^\[[ xX]\]\s+/u, '');
  if (container !== 'blockquote_open') return paragraph;
  return paragraph.replace(
    /^\[!(\p{L})(\p{L}{0,20})\]\s*/u,
    (_, first, rest) => `${first.toUpperCase()}${rest.toLowerCase()}: `,
  );
}

/** Up to the last white space, or without half a surrogate pair. */
function partOf(content: string): string {
  if (content.length < LONGEST_INLINE) return content;
  const space = content.search(/\s\S*$/u);
  return space > 0 ? content.slice(0, space + 1) : fitting(content, LONGEST_INLINE - 1);
}

/** The beginning of a document that keeps its reading, whatever is written after it. */
export interface Settled {
  /** UTF-16 units. */
  readonly length: number;
  /** True if its last block goes on. */
  readonly isOpen: boolean;
  /** True if its last block may have a neighbour of the same list or table, or go on after a wait. */
  readonly isInList: boolean;
  /** True if what follows has nothing to do with it. */
  readonly isEnd: boolean;
  /** The title row of a table at the start that goes on, with the row below it. */
  readonly head?: string;
}

/** Lines, from 0; the second one is after the block. */
type Lines = readonly [number, number];

type Leaf = Token & { map: Lines };

const LEAF = /^(?:paragraph_open|heading_open|fence|code_block|html_block|hr|table_open)$/u;
const CONTAINER = /^(?:list_item_open|blockquote_open|footnote_reference_open)$/u;

/**
 * @param blocks the tokens of the source
 * @param idle milliseconds without text
 */
function settledPart(source: string, blocks: readonly Token[], idle: number): Settled {
  const offsets = new LineOffsets(source);
  const at = blocks.findLastIndex(
    (token) => token.map && (LEAF.test(token.type) || CONTAINER.test(token.type)),
  );
  const leaf = blocks[at] as Leaf | undefined;
  if (!leaf) return { length: 0, isOpen: false, isInList: false, isEnd: false };
  const [start, end] = [offsets.of(leaf.map[0]), offsets.of(leaf.map[1])];
  const isInList = isListed(blocks, at);
  // A line that has only begun may be indented.
  const length = source.lastIndexOf('\n') + 1;
  const whole = { length, isOpen: false, isInList, isEnd: leaf.level === 0 };
  const held = { length: start, isOpen: false, isInList, isEnd: false };
  if (CONTAINER.test(leaf.type)) return held;
  const isFollowed = source.slice(end).includes('\n');
  const isLine = source.slice(0, end).endsWith('\n');
  if (isFollowed) return whole;
  switch (leaf.type) {
    case 'paragraph_open':
      return openParagraph(source, start, { isInList, isLine: isLine && leaf.level > 0, idle });
    case 'heading_open':
    case 'hr':
      return isLine ? whole : held;
    case 'fence':
      return isLine && isClosedFence(leaf) ? whole : held;
    case 'table_open':
      return openTable(source, held, { body: offsets.bodyOf(blocks, at), idle });
    default:
      return held;
  }
}

interface Paragraph {
  readonly isInList: boolean;
  /** True if a wait after its line ends it. */
  readonly isLine: boolean;
  readonly idle: number;
}

function openParagraph(source: string, start: number, { isInList, isLine, idle }: Paragraph): Settled {
  const length = start + settledInline(source.slice(start), idle);
  const isEnded = isLine && idle >= WAITS.line && length === source.length;
  return { length, isOpen: length > start && !isEnded, isInList: isInList || isEnded, isEnd: false };
}

interface Table {
  /** The first row begins here. */
  readonly body: number;
  readonly idle: number;
}

/** Its complete rows, if there are some. After a wait, a row needs no line end. */
function openTable(source: string, held: Settled, { body, idle }: Table): Settled {
  const lastLine = source.lastIndexOf('\n') + 1;
  const isWhole = () => barsIn(source.slice(lastLine)) >= barsIn(lineBefore(source, body));
  const end = idle >= WAITS.line && isWhole() ? source.length : lastLine;
  if (body >= end) return held;
  const head = held.length === 0 ? { head: source.slice(0, body) } : undefined;
  return { ...held, length: end, isInList: true, ...head };
}

function lineBefore(source: string, at: number): string {
  return source.slice(0, at).trimEnd().split('\n').at(-1) ?? '';
}

function barsIn(row: string): number {
  return row.split('|').length - 1;
}

function isListed(blocks: readonly Token[], at: number): boolean {
  const level = blocks[at]?.level ?? 0;
  return blocks.slice(0, at).some(({ type, level: outer }) => type === 'list_item_open' && outer < level);
}

/** The lines of an open fence are one more than those of its content. */
function isClosedFence({ map: [start, end], content }: Leaf): boolean {
  return end - start - 2 === content.split('\n').length - 1;
}

class LineOffsets {
  readonly #offsets = [0];

  constructor(source: string) {
    for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1))
      this.#offsets.push(at + 1);
    if (!source.endsWith('\n')) this.#offsets.push(source.length);
  }

  /** The first row of a table. */
  bodyOf(blocks: readonly Token[], table: number): number {
    const body = blocks.slice(table).find(({ type }) => type === 'tbody_open');
    return body?.map ? this.of(body.map[0]) : Number.POSITIVE_INFINITY;
  }

  of(line: number): number {
    return this.#offsets[line] ?? this.#offsets.at(-1) ?? 0;
  }
}

/** UTF-16 units not given out yet, each 15 to 350 bytes of memory. */
export const LONGEST_MARKDOWN = 4 * 1024 * 1024;

/** UTF-16 units. A longer text is parsed again after growing by so much. */
const QUICKLY_PARSED = 32_768;
const GROWTH = 2;
/** UTF-16 units. What was given out of a longer paragraph or table is not parsed again. */
const LONG_BLOCK = 2048;
/** A head without rows would be spoken. */
const EMPTY_ROW = '|\n';

/** The beginning of a document that may become front matter with its second line. */
const FRONT_MATTER = /^(?:-{1,3}|\+{1,3})[ \t]*(?:\n[^\n]*)?$/u;
const SENTENCE_END = /[\p{Sentence_Terminal}…]["'”’»)\]*_]*[ \t]$/u;

/**
 * Gives out the words of a document as soon as nothing that follows can change them; where a sentence ends is decided after
 * it. Further text changes what was given out only by defining a reference or, after a wait, by going on with it.
 */
export class GrowingMarkdown implements Stage<string, Piece> {
  readonly #options: MarkdownOptions;
  readonly #source: string;
  readonly #definitions: Definitions = {};
  /** The blocks that may go on. */
  #text = '';
  /** What was given out of the text. */
  #given = '';
  /** The number of scenes of the text that were given out. */
  #scenes = 0;
  /** What was given out after the last word: a space, or the border of a block. */
  #end: '' | ' ' | '\n' | '\n\n' = '';
  /** The line in which the text begins, from 1. */
  #line = 1;
  #parsed = 0;
  #isStart = true;
  #isChanged = false;
  #hasSpoken = false;
  /** A carriage return that a line feed may follow. */
  #return = '';

  constructor(options: MarkdownOptions, source: string) {
    this.#options = options;
    this.#source = source;
  }

  get isHolding(): boolean {
    return this.#isChanged && /\S/u.test(this.#text);
  }

  /** @throws TtsError (usage) beyond {@link LONGEST_MARKDOWN} */
  push(piece: string): readonly Piece[] {
    const raw = this.#return + piece;
    this.#return = raw.endsWith('\r') ? '\r' : '';
    const text = raw.slice(0, raw.length - this.#return.length);
    this.#text += text.replaceAll(LEFT, '').replace(/\r\n?/gu, '\n');
    if (piece !== '') this.#isChanged = true;
    if (this.#text.length > LONGEST_MARKDOWN) throw tooLong();
    return [];
  }

  *flush(idle: number): Generator<Piece> {
    if (!this.#isDue(idle)) return;
    if (this.#isStart) {
      const start = frontMatterLength(this.#text);
      if (start === undefined || (start === 0 && FRONT_MATTER.test(this.#text))) return;
      this.#leave(start);
    }
    const text = idle < WAITS.doubtful ? withoutUnclearLine(this.#text) : this.#text;
    const document = this.#parse(text);
    const settled = settledPart(text, document.blocks, idle);
    const isWhole = settled.length === text.length && !settled.isOpen;
    yield* this.#giveOut(isWhole ? document : this.#parse(text.slice(0, settled.length)), settled);
    this.#forget(document, settled);
    this.#parsed = this.#text.length;
    if (idle >= WAITS.doubtful) this.#isChanged = false;
  }

  *end(): Generator<Piece> {
    if (this.#isStart) this.#leave(frontMatterLength(this.#text) ?? 0);
    yield* this.#rest(this.#parse(this.#text), this.#options);
    this.#text = '';
    this.#given = '';
  }

  #isDue(idle: number): boolean {
    const { length } = this.#text;
    const isQuick = length <= QUICKLY_PARSED;
    return length > this.#parsed * (isQuick ? 1 : GROWTH) || (isQuick && idle >= WAITS.sentence);
  }

  *#giveOut(document: MarkdownDocument, { length, isOpen, isInList }: Settled): Generator<Piece> {
    const { isNew, isAll } = yield* this.#rest(document, { ...this.#options, isOpen });
    if (isOpen && isNew && SENTENCE_END.test(this.#text.slice(0, length))) yield this.#space();
    if (!isOpen && isAll && this.#given !== '') yield* this.#border(isInList ? '\n' : '\n\n');
  }

  /**
   * What was not given out yet.
   * @returns `isNew` if there is something, `isAll` unless more than the document was given out before
   */
  *#rest(
    document: MarkdownDocument,
    options: MarkdownOptions & { readonly isOpen?: boolean },
  ): Generator<Piece, { readonly isNew: boolean; readonly isAll: boolean }> {
    let isNew = false;
    let given = this.#given;
    let scenes = this.#scenes;
    for (const block of spokenBlocks(document, options)) {
      if (block.kind === 'scene') {
        scenes -= 1;
        if (scenes < 0) yield* this.#scene();
        continue;
      }
      const { rest, left } = withoutSpoken(block.text, given);
      const isBegun = rest.length < block.text.length;
      given = left;
      if (rest === '') continue;
      if (!isBegun) yield* this.#border(block.gap || this.#borderOfPart);
      yield* this.#words(isBegun ? rest : rest.trimStart(), block);
      isNew = true;
    }
    return { isNew, isAll: given === '' };
  }

  *#scene(): Generator<Piece> {
    this.#scenes += 1;
    this.#end = '';
    yield { kind: 'scene' };
  }

  /** A heading is given out as one. */
  *#words(rest: string, { kind, level, line }: SpokenBlock): Generator<Piece> {
    const text = this.#end === '' ? rest : rest.trimStart();
    this.#given += rest;
    this.#end = '';
    this.#hasSpoken = true;
    if (kind === 'heading') yield { kind, level };
    yield* inSteps(text, this.#placeOf(this.#line + line));
    if (kind === 'heading') yield { kind, level };
  }

  /** The first block of what is left does not know what was before it. */
  get #borderOfPart(): SpokenBlock['gap'] {
    return this.#hasSpoken && this.#end.trim() === this.#end ? '\n\n' : '';
  }

  #space(): Piece {
    this.#end = ' ';
    return { kind: 'text', text: ' ', place: this.#placeOf(this.#line) };
  }

  /** A border that was given out ahead of its block is not given out again. */
  *#border(gap: SpokenBlock['gap']): Generator<Piece> {
    if (this.#end.length >= gap.length && (gap !== '\n' || this.#end !== ' ')) return;
    this.#end = gap;
    if (gap === '\n\n') yield { kind: 'paragraph' };
    else yield { kind: 'text', text: gap, place: this.#placeOf(this.#line) };
  }

  /** What was given out and stays as it is. */
  #forget(document: MarkdownDocument, { length, isOpen, isEnd, head }: Settled): void {
    const finished = isEnd ? length : Math.min(length, document.finishedLength);
    if (finished > 0) {
      this.#leave(finished);
      const { given, scenes } = isEnd ? { given: '', scenes: 0 } : this.#givenOf(length - finished, isOpen);
      this.#given = given;
      this.#scenes = scenes;
    } else if (isOpen && length > LONG_BLOCK && document.isParagraph) {
      this.#leave(length, LEFT);
      this.#given = '';
    } else if (head !== undefined && length > LONG_BLOCK + head.length) {
      this.#leave(length, `${head}${EMPTY_ROW}`);
      this.#given = this.#givenOf(head.length + EMPTY_ROW.length, false).given;
    }
  }

  #givenOf(length: number, isOpen: boolean) {
    const document = this.#parse(this.#text.slice(0, length));
    const blocks = [...spokenBlocks(document, { ...this.#options, isOpen })];
    const given = blocks.map(({ text }) => text).join(' ');
    return { given, scenes: blocks.filter(({ kind }) => kind === 'scene').length };
  }

  /** @param left stands for what has left */
  #leave(length: number, left = ''): void {
    this.#line += countLineBreaks(this.#text.slice(0, length)) - countLineBreaks(left);
    this.#text = left + this.#text.slice(length);
    this.#isStart = false;
  }

  #placeOf(line: number): Place {
    return { source: this.#source, line };
  }

  #parse(source: string): MarkdownDocument {
    return new MarkdownDocument(source, this.#definitions);
  }
}

/** A line that has only begun may become a mark of a list, the border of a table, or the underline of a heading. */
const UNCLEAR_LINE = /^[^\p{L}]{0,12}$/u;

function withoutUnclearLine(text: string): string {
  const start = text.lastIndexOf('\n') + 1;
  return UNCLEAR_LINE.test(text.slice(start).trim()) ? text.slice(0, start) : text;
}

function tooLong(): TtsError {
  return usageError(
    `the Markdown is longer than ${LONGEST_MARKDOWN} characters`,
    'speak it in parts, or as it stands with --format text',
  );
}

/**
 * A document is read whole, since its last line may define a reference. Only one that is heard while it is written gives out
 * the words that are settled.
 * @throws TtsError (usage) for what is not text
 */
export async function openMarkdown(
  source: Source,
  options: MarkdownOptions,
  signal: AbortSignal,
): Promise<Reading> {
  const characters = await openCharacters(source, signal);
  const stageOf = (inFront: ReadingOptions['inFront']) => {
    const markdown = new GrowingMarkdown(options, source.name);
    return inFront ? inTurn(inFront, markdown) : markdown;
  };
  return {
    source,
    pieces: (until, { inFront } = {}) => through(characters(until), stageOf(inFront)),
    live: (until, { inFront } = {}) => ({ characters: characters(until), stage: stageOf(inFront) }),
  };
}
