import { type TtsError, usageError } from '../../error.ts';
import { completeLength, WAITS } from '../../text/complete.ts';
import { countLineBreaks } from '../../text/lines.ts';
import type { LiveStage } from '../../text/live.ts';
import { inSteps, type Piece, type Place } from '../../text/piece.ts';
import { isMarker } from '../../text/sentence-border.ts';
import { hasWord } from '../../text/unicode.ts';
import { type SpokenBlock, spokenBlocks } from './blocks.ts';
import type { MarkdownOptions } from './parser.ts';
import { type Definitions, frontMatterLength, MarkdownDocument } from './parser.ts';

/** UTF-16 units not given out yet, each 15 to 350 bytes of memory. */
export const LONGEST_MARKDOWN = 4 * 1024 * 1024;

/** UTF-16 units. A longer text is parsed again after growing by so much. */
const QUICKLY_PARSED = 32_768;
const GROWTH = 1.5;

/** Stands for what has left of a paragraph or list: the parser sees the rest in its place. A noncharacter. */
const LEFT = '\uFDD0';

/** Further text changes what was given out only by defining a reference or, behind a wait, by going on with it. */
export class GrowingMarkdown implements LiveStage<string, Piece> {
  readonly #options: MarkdownOptions;
  readonly #source: string;
  readonly #definitions: Definitions = {};
  #text = '';
  /** The line in which the text begins, from 1. */
  #line = 1;
  #parsed = 0;
  #isStart = true;

  constructor(options: MarkdownOptions, source: string) {
    this.#options = options;
    this.#source = source;
  }

  get isHolding(): boolean {
    return /[^\s\uFDD0]/u.test(this.#text);
  }

  /** @throws TtsError (usage) beyond {@link LONGEST_MARKDOWN} */
  push(piece: string): readonly Piece[] {
    this.#text += piece.replaceAll(LEFT, '');
    if (this.#text.length > LONGEST_MARKDOWN) throw tooLong();
    return [];
  }

  *flush(idle: number): Generator<Piece> {
    if (!this.#isDue(idle)) return;
    const start = this.#isStart ? frontMatterLength(this.#lines()) : 0;
    this.#parsed = this.#text.length;
    if (start === undefined) return;
    yield* this.#blocks(start);
    yield* this.#items(idle);
    yield* this.#sentences(idle);
    this.#parsed = this.#text.length;
  }

  *end(): Generator<Piece> {
    if (this.#isStart) this.#leave(frontMatterLength(this.#text) ?? 0);
    yield* this.#spoken(this.#text, this.#line);
    this.#text = '';
  }

  #isDue(idle: number): boolean {
    const { length } = this.#text;
    const isQuick = length <= QUICKLY_PARSED;
    return length > this.#parsed * (isQuick ? 1 : GROWTH) || (isQuick && idle >= WAITS.sentence);
  }

  *#blocks(start: number): Generator<Piece> {
    const source = this.#lines().slice(start);
    const length = this.#parse(source).finishedLength;
    if (length === 0) return;
    this.#leave(start);
    const line = this.#leave(length);
    if (yield* this.#spoken(source.slice(0, length), line)) yield { kind: 'paragraph' };
  }

  /** The last one is complete behind a wait. */
  *#items(idle: number): Generator<Piece> {
    const lines = this.#lines();
    const isWhole = (text: string) => idle >= WAITS.line && isClosed(text);
    const { length, mark } = this.#parse(lines).finishedItems(isWhole);
    const source = lines.slice(0, length);
    if (!hasWord(source.slice(source.indexOf(LEFT) + 1))) return;
    const line = this.#leave(length, `${mark} ${LEFT}${source.slice(source.trimEnd().length)}`);
    yield* this.#spoken(source, line);
    yield this.#lineBreak();
  }

  *#sentences(idle: number): Generator<Piece> {
    const length = this.#parse(this.#text).isParagraph ? sentencesLength(this.#text, idle) : 0;
    const source = this.#text.slice(0, length);
    if (!hasWord(source)) return;
    const line = this.#leave(length, LEFT);
    yield* this.#spoken(source, line);
    yield this.#lineBreak();
  }

  /**
   * @param left stands for what has left
   * @returns the line of what has left
   */
  #leave(length: number, left = ''): number {
    const line = this.#line;
    this.#line += countLineBreaks(this.#text.slice(0, length)) - countLineBreaks(left);
    this.#text = left + this.#text.slice(length);
    this.#isStart = false;
    return line;
  }

  #lines(): string {
    return this.#text.slice(0, this.#text.lastIndexOf('\n') + 1);
  }

  /**
   * @param line of the source
   * @returns true if there was a block
   */
  *#spoken(source: string, line: number): Generator<Piece, boolean> {
    const isLater = source.includes(LEFT);
    const blocks = spokenBlocks(this.#parse(source), this.#options);
    let isSpoken = isLater;
    for (const block of isLater ? withoutLeft(blocks) : blocks) {
      yield* piecesOf(block, this.#placeOf(line + block.line));
      isSpoken = true;
    }
    return isSpoken;
  }

  #placeOf(line: number): Place {
    return { source: this.#source, line };
  }

  /** A sentence in front of a line break is not waited for again. */
  #lineBreak(): Piece {
    return { kind: 'text', text: '\n', place: this.#placeOf(this.#line) };
  }

  #parse(source: string): MarkdownDocument {
    return new MarkdownDocument(source, this.#definitions);
  }
}

/** The blocks after {@link LEFT}. A line break of the gap behind it was given out when it left. */
function* withoutLeft(blocks: Iterator<SpokenBlock>): Generator<SpokenBlock> {
  const first = nextOf(blocks);
  const second = nextOf(blocks);
  const rest = first?.text.slice(first.text.indexOf(LEFT) + 1).replace(/^\.?[ \n]?/u, '') ?? '';
  if (first && rest !== '') yield { ...first, gap: '', text: rest };
  if (second && rest !== '') yield second;
  else if (second) yield { ...second, gap: second.gap === '\n\n' ? '\n' : '' };
  for (let next = nextOf(blocks); next; next = nextOf(blocks)) yield next;
}

function nextOf<T>(items: Iterator<T>): T | undefined {
  const { done, value } = items.next();
  return done ? undefined : value;
}

function* piecesOf({ kind, level, gap, text }: SpokenBlock, place: Place): Generator<Piece> {
  if (kind === 'scene') return yield { kind };
  if (gap === '\n\n') yield { kind: 'paragraph' };
  else if (gap !== '') yield { kind: 'text', text: gap, place };
  if (kind === 'heading') yield { kind, level };
  yield* inSteps(text, place);
  if (kind === 'heading') yield { kind, level };
}

/** The next sentence has begun in the same line. */
const SENTENCE_END = /[.!?…。！？]["'”’»)\]*_]*(?=[ \t]+(?:[\p{L}"“«]|\d+[^\d.)]))/gu;

/** UTF-16 units; no mark is open behind them. */
function sentencesLength(text: string, idle: number): number {
  const { length } = text.trimEnd();
  const ends = [...text.matchAll(SENTENCE_END)].map(({ 0: mark, index }) => index + mark.length);
  if (idle >= WAITS.sentence && completeLength(text, idle) >= length) ends.push(length);
  return ends.findLast((end) => isClosed(text.slice(0, end))) ?? 0;
}

/** Marks in a word or between spaces do not count. */
const MARKS = /`+|~+|(?<!\w)_+|_+(?!\w)|(?<!\*)\*+(?![\s*])|(?<=[^\s*])\*+(?!\*)/gu;

/** Tags and tables reach further than a sentence, and an item further than its number. */
function isClosed(text: string): boolean {
  if (/[<|]/u.test(text) || isMarker(text.slice(text.lastIndexOf('\n') + 1))) return false;
  const open = new Set<string>();
  for (const [mark] of text.matchAll(MARKS)) if (!open.delete(mark)) open.add(mark);
  const count = (sign: string) => text.split(sign).length - 1;
  return open.size === 0 && count('[') === count(']') && count('(') === count(')');
}

function tooLong(): TtsError {
  return usageError(
    `the Markdown is longer than ${LONGEST_MARKDOWN} characters`,
    'speak it in parts, or as it stands with --format text',
  );
}
