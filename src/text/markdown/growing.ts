import { type TtsError, usageError } from '../../error.ts';
import { spokenBlocks } from './blocks.ts';
import type { MarkdownOptions } from './parser.ts';
import { type Definitions, frontMatterLength, MarkdownDocument, withoutFrontMatter } from './parser.ts';

/**
 * In UTF-16 units, of what is not yet given out. What it takes in memory depends on its blocks: about 15 bytes a
 * character for prose, 350 for nothing but empty headings.
 */
export const LONGEST_MARKDOWN = 4 * 1024 * 1024;

/** What was parsed in vain is parsed again when there is more of it; if it is longer than this, when it has grown so much. */
const QUICKLY_PARSED = 32_768;
const GROWTH = 1.5;

/**
 * Markdown that comes in pieces. Without `finished` it is parsed at its end, as one; `finished` gives out early what
 * further text cannot change, but that a reference in it may be defined there.
 */
export class GrowingMarkdown {
  readonly #code: MarkdownOptions['code'];
  readonly #definitions: Definitions = {};
  /** What is not yet given out; it starts where a block does. */
  #text = '';
  /** How long that was when it was last parsed. */
  #parsed = 0;
  #isStart = true;

  constructor(code: MarkdownOptions['code']) {
    this.#code = code;
  }

  /** @throws TtsError usage, where it becomes longer than {@link LONGEST_MARKDOWN} */
  push(piece: string): void {
    this.#text += piece;
    if (this.#text.length > LONGEST_MARKDOWN) throw tooLong();
  }

  /** Gives out the text of the blocks that are at their end, and ends the paragraph. */
  *finished(): Generator<string> {
    if (this.#text.length <= this.#parsed * (this.#parsed > QUICKLY_PARSED ? GROWTH : 1)) return;
    this.#parsed = this.#text.length;
    const lines = this.#text.slice(0, this.#text.lastIndexOf('\n') + 1);
    const start = this.#isStart ? frontMatterLength(lines) : 0;
    if (start === undefined) return;
    const source = lines.slice(start);
    const length = this.#parse(source).finishedLength;
    if (length === 0) return;
    this.#text = this.#text.slice(start + length);
    this.#parsed = this.#text.length;
    this.#isStart = false;
    let gap = '';
    for (const piece of this.#spoken(source.slice(0, length))) {
      yield piece;
      gap = '\n\n';
    }
    yield gap;
  }

  /** Gives out all that is left. */
  *end(): Generator<string> {
    yield* this.#spoken(this.#isStart ? withoutFrontMatter(this.#text) : this.#text);
    this.#text = '';
  }

  #spoken(source: string): Generator<string> {
    return spokenBlocks(this.#parse(source), this.#code);
  }

  #parse(source: string): MarkdownDocument {
    return new MarkdownDocument(source, this.#definitions);
  }
}

function tooLong(): TtsError {
  return usageError(
    `the Markdown is longer than ${LONGEST_MARKDOWN} characters`,
    'speak it in parts, or as it stands with --format text',
  );
}
