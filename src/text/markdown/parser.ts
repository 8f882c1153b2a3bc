import MarkdownIt, { type Token } from 'markdown-it';
import footnotes from 'markdown-it-footnote';

/** Quotes and items nested deeper than this come as an opening and a closing token with nothing between them. */
export const deepestNesting = 100;

/**
 * CommonMark, tables, strikethrough, bare URLs and footnotes. Only blocks are parsed at once; their text is parsed when
 * it is asked for, so that the first sentence of a long document need not wait for the last.
 */
export class MarkdownDocument {
  readonly #parser = new MarkdownIt({ html: true, linkify: true, maxNesting: deepestNesting });
  readonly #environment = {};
  readonly blocks: readonly Token[];

  constructor(source: string) {
    this.#parser.use(footnotes).disable('footnote_inline');
    this.#parser.core.ruler.enableOnly(['normalize', 'block']);
    this.blocks = this.#parser.parse(source, this.#environment);
  }

  inline(text: string): Token[] {
    const tokens: Token[] = [];
    this.#parser.inline.parse(text, this.#parser, this.#environment, tokens);
    return tokens;
  }
}
