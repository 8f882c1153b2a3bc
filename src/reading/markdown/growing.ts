import { type TtsError, usageError } from '../../error.ts';
import { completeLength, WAITS } from '../../text/complete.ts';
import type { GrowingText } from '../../text/live.ts';
import { isMarker } from '../../text/sentence-border.ts';
import { hasWord } from '../../text/unicode.ts';
import { spokenBlocks } from './blocks.ts';
import type { MarkdownOptions } from './parser.ts';
import { type Definitions, frontMatterLength, MarkdownDocument, withoutFrontMatter } from './parser.ts';

/** UTF-16 units not given out yet, each 15 to 350 bytes of memory. */
export const LONGEST_MARKDOWN = 4 * 1024 * 1024;

/** UTF-16 units. A longer text is parsed again after growing by so much. */
const QUICKLY_PARSED = 32_768;
const GROWTH = 1.5;

/** Stands for what has left of a paragraph or list: the parser sees the rest in its place. A noncharacter. */
const LEFT = '\uFDD0';

/** Further text changes what was given out only by defining a reference or, behind a wait, by going on with it. */
export class GrowingMarkdown implements GrowingText<string> {
  readonly #options: MarkdownOptions;
  readonly #definitions: Definitions = {};
  #text = '';
  #parsed = 0;
  #isStart = true;

  constructor(options: MarkdownOptions) {
    this.#options = options;
  }

  get isHolding(): boolean {
    return /[^\s\uFDD0]/u.test(this.#text);
  }

  /** @throws TtsError (usage) beyond {@link LONGEST_MARKDOWN} */
  push(piece: string): readonly string[] {
    this.#text += piece.replaceAll(LEFT, '');
    if (this.#text.length > LONGEST_MARKDOWN) throw tooLong();
    return [];
  }

  *flush(idle: number): Generator<string> {
    if (!this.#isDue(idle)) return;
    const start = this.#isStart ? frontMatterLength(this.#lines()) : 0;
    this.#parsed = this.#text.length;
    if (start === undefined) return;
    yield* this.#blocks(start);
    yield* this.#items(idle);
    yield* this.#sentences(idle);
    this.#parsed = this.#text.length;
  }

  *end(): Generator<string> {
    const source = this.#isStart ? withoutFrontMatter(this.#text) : this.#text;
    yield* this.#spoken(source);
    this.#text = '';
  }

  #isDue(idle: number): boolean {
    const { length } = this.#text;
    const isQuick = length <= QUICKLY_PARSED;
    return length > this.#parsed * (isQuick ? 1 : GROWTH) || (isQuick && idle >= WAITS.sentence);
  }

  *#blocks(start: number): Generator<string> {
    const source = this.#lines().slice(start);
    const length = this.#parse(source).finishedLength;
    if (length === 0) return;
    this.#leave(start + length);
    let end = '';
    for (const piece of this.#spoken(source.slice(0, length))) {
      yield piece;
      end = '\n\n';
    }
    if (end !== '') yield end;
  }

  /** The last one is complete behind a wait. */
  *#items(idle: number): Generator<string> {
    const lines = this.#lines();
    const isWhole = (text: string) => idle >= WAITS.line && isClosed(text);
    const { length, mark } = this.#parse(lines).finishedItems(isWhole);
    const source = lines.slice(0, length);
    if (!hasWord(source.slice(source.indexOf(LEFT) + 1))) return;
    this.#leave(length, `${mark} ${LEFT}${source.slice(source.trimEnd().length)}`);
    yield* this.#spoken(source);
    yield ENDS_HERE;
  }

  *#sentences(idle: number): Generator<string> {
    const length = this.#parse(this.#text).isParagraph ? sentencesLength(this.#text, idle) : 0;
    const source = this.#text.slice(0, length);
    if (!hasWord(source)) return;
    this.#leave(length, LEFT);
    yield* this.#spoken(source);
    yield ENDS_HERE;
  }

  #leave(length: number, left = ''): void {
    this.#text = left + this.#text.slice(length);
    this.#isStart = false;
  }

  #lines(): string {
    return this.#text.slice(0, this.#text.lastIndexOf('\n') + 1);
  }

  /** Each block begins with its separator; that of {@link LEFT} was given out as {@link ENDS_HERE}. */
  *#spoken(source: string): Generator<string> {
    const blocks = spokenBlocks(this.#parse(source), this.#options);
    if (source.includes(LEFT)) {
      const [first, second] = [blocks.next(), blocks.next()];
      const both = `${first.value ?? ''}${second.value ?? ''}`;
      yield both.slice(both.indexOf(LEFT) + 1).replace(/^\.?[ \n]?/u, '');
    }
    yield* blocks;
  }

  #parse(source: string): MarkdownDocument {
    return new MarkdownDocument(source, this.#definitions);
  }
}

/** A sentence in front of a line break is not waited for again. */
const ENDS_HERE = '\n';

/** The next sentence has begun in the same line. */
const SENTENCE_END = /[.!?…。！？]["'”’»)\]*_]*(?=[ \t]+(?:[\p{L}"“«]|\d+[^\d.)]))/gu;

/** UTF-16 units; no mark is open behind them. */
function sentencesLength(text: string, idle: number): number {
  const { length } = text.trimEnd();
  const ends = [...text.matchAll(SENTENCE_END)].map(({ 0: mark, index }) => index + mark.length);
  if (idle >= WAITS.sentence && completeLength(text, idle) >= length) ends.push(length);
  return ends.findLast((end) => isClosed(text.slice(0, end))) ?? 0;
}

/** Not those in a word or between spaces. */
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
