import { type TtsError, usageError } from '../../error.ts';
import { spokenBlocks } from './blocks.ts';
import type { MarkdownOptions } from './parser.ts';
import { type Definitions, frontMatterLength, MarkdownDocument, withoutFrontMatter } from './parser.ts';

/** UTF-16 units not given out yet, each 15 to 350 bytes of memory. */
export const LONGEST_MARKDOWN = 4 * 1024 * 1024;

/** UTF-16 units. A longer text is parsed again after growing by so much. */
const QUICKLY_PARSED = 32_768;
const GROWTH = 1.5;

/** `finished` gives out early what further text can change only by defining a reference. */
export class GrowingMarkdown {
  readonly #code: MarkdownOptions['code'];
  readonly #definitions: Definitions = {};
  #text = '';
  #parsed = 0;
  #isStart = true;

  constructor(code: MarkdownOptions['code']) {
    this.#code = code;
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
