import { type TtsError, usageError } from '../../error.ts';
import { spokenBlocks } from './blocks.ts';
import type { MarkdownOptions } from './parser.ts';
import { type Definitions, frontMatterLength, MarkdownDocument, withoutFrontMatter } from './parser.ts';

/** UTF-16 units not given out yet, each 15 to 350 bytes of memory. */
export const LONGEST_MARKDOWN = 4 * 1024 * 1024;

/** UTF-16 units. A longer text is parsed again after growing by so much. */
const QUICKLY_PARSED = 32_768;
const GROWTH = 1.5;

/** Further text can change what was given out only by defining a reference. */
export class GrowingMarkdown {
  readonly #options: MarkdownOptions;
  readonly #definitions: Definitions = {};
  #text = '';
  #parsed = 0;
  #isStart = true;
  /** A part of the paragraph has left. */
  #isInParagraph = false;

  constructor(options: MarkdownOptions) {
    this.#options = options;
  }

  /** @throws TtsError (usage) beyond {@link LONGEST_MARKDOWN} */
  push(piece: string): void {
    this.#text += piece;
    if (this.#text.length > LONGEST_MARKDOWN) throw tooLong();
  }

  *finished(): Generator<string> {
    if (this.#text.length <= this.#parsed * (this.#parsed > QUICKLY_PARSED ? GROWTH : 1)) return;
    this.#parsed = this.#text.length;
    const lines = this.#text.slice(0, this.#text.lastIndexOf('\n') + 1);
    const start = this.#isStart ? frontMatterLength(lines) : 0;
    if (start === undefined) return;
    const source = lines.slice(start);
    const length = this.#parse(source).finishedLength;
    if (length > 0) {
      this.#text = this.#text.slice(start + length);
      this.#isStart = false;
      yield* this.#blocks(source.slice(0, length));
    }
    yield* this.#sentences();
    this.#parsed = this.#text.length;
  }

  *#blocks(source: string): Generator<string> {
    yield* this.#gap(source);
    let end = this.#isInParagraph ? '\n\n' : '';
    for (const piece of this.#spoken(source)) {
      yield piece;
      end = '\n\n';
    }
    if (end !== '') yield end;
    this.#isInParagraph = false;
  }

  *#sentences(): Generator<string> {
    const length = this.#isInParagraph || this.#isParagraph() ? sentencesLength(this.#text) : 0;
    if (length === 0) return;
    const source = this.#text.slice(0, length);
    const spoken = [...this.#spoken(source)].join('');
    yield* this.#gap(source);
    yield `${spoken} `;
    this.#text = this.#text.slice(length);
    this.#isStart = false;
    this.#isInParagraph = true;
  }

  #isParagraph(): boolean {
    const { blocks } = this.#parse(this.#text);
    return (
      blocks[0]?.type === 'paragraph_open' &&
      blocks.every(({ level }, at) => level > 0 || at === 0 || at === 2)
    );
  }

  *#gap(source: string): Generator<string> {
    if (this.#isInParagraph && /^[^\S\n]*\n[^\S\n]*\n/u.test(source)) yield '\n\n';
  }

  *end(): Generator<string> {
    const source = this.#isStart ? withoutFrontMatter(this.#text) : this.#text;
    yield* this.#gap(source);
    yield* this.#spoken(source);
    this.#text = '';
  }

  #spoken(source: string): Generator<string> {
    return spokenBlocks(this.#parse(source), this.#options);
  }

  #parse(source: string): MarkdownDocument {
    return new MarkdownDocument(source, this.#definitions);
  }
}

/** The next sentence has begun in the same line. */
const SENTENCE_END = /[.!?…。！？]["'”’»)\]*_]*[ \t]+(?=[\p{L}"“«]|\d+[^\d.)])/gu;
/** At the start of a line. */
const BLOCK_START = /^(?:[-+*#>|=`~]|\d{1,9}[.)])/u;

/** UTF-16 units; no mark is open behind them. */
function sentencesLength(text: string): number {
  const ends = [...text.matchAll(SENTENCE_END)].map(({ 0: mark, index }) => index + mark.length);
  const isEnd = (end: number) => isClosed(text.slice(0, end)) && !BLOCK_START.test(text.slice(end));
  return ends.findLast(isEnd) ?? 0;
}

/** Tags and tables reach further than a sentence. */
function isClosed(text: string): boolean {
  if (/[<|]/u.test(text)) return false;
  const count = (sign: string) => text.split(sign).length - 1;
  const isEven = ['*', '_', '`', '~'].every((sign) => count(sign) % 2 === 0);
  return isEven && count('[') === count(']') && count('(') === count(')');
}

function tooLong(): TtsError {
  return usageError(
    `the Markdown is longer than ${LONGEST_MARKDOWN} characters`,
    'speak it in parts, or as it stands with --format text',
  );
}
