import { type TtsError, usageError } from '../../error.ts';
import { WAITS } from '../../text/complete.ts';
import { countLineBreaks } from '../../text/lines.ts';
import type { LiveStage } from '../../text/live.ts';
import { inSteps, type Piece, type Place } from '../../text/piece.ts';
import { type SpokenBlock, spokenBlocks } from './blocks.ts';
import { type Definitions, frontMatterLength, MarkdownDocument, type MarkdownOptions } from './parser.ts';
import { type Settled, settledPart } from './settled.ts';
import { LEFT, withoutSpoken } from './spoken.ts';

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
export class GrowingMarkdown implements LiveStage<string, Piece> {
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
