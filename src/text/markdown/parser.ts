import MarkdownIt, { type Token } from 'markdown-it';
import footnotes from 'markdown-it-footnote';

/** Quotes and items nested deeper than this come as an opening and a closing token with nothing between them. */
const DEEPEST_NESTING = 100;
const OUTER_MARKS = /^(?:[\s>+*-]|\d{1,9}[.)]\s)+/u;

/**
 * CommonMark, tables, strikethrough, bare URLs and footnotes. Only blocks are parsed at once; their text is parsed when
 * it is asked for, so that the first sentence of a long document need not wait for the last.
 */
export class MarkdownDocument {
  readonly #parser = new MarkdownIt({ html: true, linkify: true, maxNesting: DEEPEST_NESTING });
  readonly #environment = {};
  readonly blocks: readonly Token[];
  readonly #source: string;
  #lines: readonly string[] | undefined;

  constructor(source: string) {
    this.#source = source;
    this.#parser.use(footnotes).disable('footnote_inline');
    this.#parser.core.ruler.enableOnly(['normalize', 'block']);
    this.blocks = this.#parser.parse(source, this.#environment);
  }

  inline(text: string): Token[] {
    const tokens: Token[] = [];
    this.#parser.inline.parse(text, this.#parser, this.#environment, tokens);
    return tokens;
  }

  /** What stands in a quote or item that is nested too deep to be parsed, without the marks at the start of its lines. */
  leftOut({ type, level, map }: Token): string | undefined {
    if (!map || level < DEEPEST_NESTING - 1 || !/^(?:blockquote|list_item)_open$/u.test(type))
      return undefined;
    this.#lines ??= this.#source.split(/\r\n?|\n/u);
    const lines = this.#lines.slice(...map).map((line) => line.replace(OUTER_MARKS, ''));
    return lines.join('\n');
  }
}
