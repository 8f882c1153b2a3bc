import MarkdownIt, { type Token } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import { lazy } from '../../text/unicode.ts';
import { dialect } from './dialect.ts';

export interface MarkdownOptions {
  /** Code in a sentence is always spoken. */
  readonly code: 'skip' | 'announce' | 'read';
  readonly footnotes: 'read' | 'skip';
  /** Formulas are their plain words, or the word "formula", as if nothing is said. */
  readonly math?: 'read' | 'skip' | undefined;
}

/** Deeper blocks have no tokens. */
const DEEPEST_NESTING = 100;
const OUTER_MARKS = /^(?:[\s>+*-]|\d{1,9}[.)]\s)+/u;

const parser = lazy(() => {
  const made = new MarkdownIt({ html: true, linkify: true, maxNesting: DEEPEST_NESTING });
  made.use(footnotes).disable('footnote_inline').use(dialect);
  made.core.ruler.enableOnly(['normalize', 'block']);
  return made;
});

/** Shared by the parts of a document. */
export type Definitions = Record<string, unknown>;

/** Inline text is parsed when it is asked for: the first sentence of a long document comes early. */
export class MarkdownDocument {
  readonly #definitions: Definitions;
  readonly blocks: readonly Token[];
  readonly #source: string;
  #lines: readonly string[] | undefined;

  constructor(source: string, definitions: Definitions) {
    this.#source = source;
    this.#definitions = definitions;
    this.blocks = parser().parse(source, definitions);
  }

  /** UTF-16 units: the start of the last block, or of the last item if that is a list. */
  get finishedLength(): number {
    const at = this.blocks.findLastIndex(({ level, map }) => level === 0 && map);
    const isItem = ({ type, level }: Token) => type === 'list_item_open' && level === 1;
    const last = this.blocks.slice(at).findLast(isItem) ?? this.blocks[at];
    return this.#offsetOf(last?.map?.[0]);
  }

  get isParagraph(): boolean {
    const isAlone = this.blocks.every(({ level }, at) => level > 0 || at === 0 || at === 2);
    return isAlone && this.blocks[0]?.type === 'paragraph_open';
  }

  inline(text: string): Token[] {
    const tokens: Token[] = [];
    parser().inline.parse(text, parser(), this.#definitions, tokens);
    return tokens;
  }

  /** The text comes without its marks. */
  leftOut({ type, level, map }: Token): string | undefined {
    if (!map || level < DEEPEST_NESTING - 1 || !/^(?:blockquote|list_item)_open$/u.test(type))
      return undefined;
    this.#lines ??= this.#source.split(/\r\n?|\n/u);
    const lines = this.#lines.slice(...map).map((line) => line.replace(OUTER_MARKS, ''));
    return lines.join('\n');
  }

  #offsetOf(line = 0): number {
    const breaks = /\r\n?|\n/gu;
    for (let passed = 0; passed < line; passed += 1) breaks.test(this.#source);
    return breaks.lastIndex;
  }
}

const OPENING = /^(---|\+\+\+)[ \t]*\n/u;
/** Anything else makes a thematic break of front matter. */
const FIRST_FIELD = /^[ \t]*(?:#|["']?[\p{L}_][^\n]{0,200}?[:=])/u;

/** UTF-16 units of YAML (---) or TOML (+++); `undefined` while it may not have ended. */
export function frontMatterLength(source: string): number | undefined {
  const { 0: fence, 1: mark } = OPENING.exec(source) ?? [];
  if (fence === undefined || !FIRST_FIELD.test(source.slice(fence.length, fence.length + 400))) return 0;
  const closing = mark === '---' ? /\n(?:---|\.\.\.)[ \t]*(?=\n|$)/gu : /\n\+\+\+[ \t]*(?=\n|$)/gu;
  closing.lastIndex = fence.length;
  return closing.test(source) ? closing.lastIndex : undefined;
}
