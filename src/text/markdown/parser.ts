import MarkdownIt, { type Token } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import { late } from '../unicode.ts';

export interface MarkdownOptions {
  /** What becomes of code blocks: left out, named in a few words, or spoken. Code in a sentence is always spoken. */
  readonly code: 'skip' | 'announce' | 'read';
}

/** Quotes and items nested deeper than this come as an opening and a closing token with nothing between them. */
const DEEPEST_NESTING = 100;
/** What ends for certain at an empty line. */
const ENDS_AT_EMPTY_LINE = /^(?:paragraph_open|heading_open|table_open|hr)$/u;
const OUTER_MARKS = /^(?:[\s>+*-]|\d{1,9}[.)]\s)+/u;

const parser = late(() => {
  const made = new MarkdownIt({ html: true, linkify: true, maxNesting: DEEPEST_NESTING });
  made.use(footnotes).disable('footnote_inline');
  made.core.ruler.enableOnly(['normalize', 'block']);
  return made;
});

/** What is defined for references: a document that comes in parts has one for all of them. */
export type Definitions = Record<string, unknown>;

/**
 * CommonMark, tables, strikethrough, bare URLs and footnotes. Only blocks are parsed at once; their text is parsed when
 * it is asked for, so that the first sentence of a long document need not wait for the last.
 */
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

  /**
   * How much of a source of whole lines no further ones can change, in UTF-16 units: all but the last block, which may
   * go on, and the definitions behind it, footnotes among them.
   */
  get finishedLength(): number {
    const last = this.blocks.findLast(({ level, map }) => level === 0 && map);
    if (!last?.map) return 0;
    const [start, end] = last.map.map((line) => offsetOfLine(this.#source, line)) as [number, number];
    return ENDS_AT_EMPTY_LINE.test(last.type) && end < this.#source.length ? end : start;
  }

  inline(text: string): Token[] {
    const tokens: Token[] = [];
    parser().inline.parse(text, parser(), this.#definitions, tokens);
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

function offsetOfLine(source: string, line: number): number {
  const breaks = /\r\n?|\n/gu;
  for (let passed = 0; passed < line; passed += 1) breaks.test(source);
  return breaks.lastIndex;
}

const OPENING = /^(---|\+\+\+)[ \t]*\n/u;
/** Without this on its first line, it is a thematic break with text behind it. */
const FIRST_FIELD = /^[ \t]*(?:#|["']?[\p{L}_][^\n]{0,200}?[:=])/u;

/** The document without the YAML (---) or TOML (+++) at its start, which is about the text and not part of it. */
export function withoutFrontMatter(source: string): string {
  return source.slice(frontMatterLength(source));
}

/** In UTF-16 units; `undefined` for what begins like it and does not end. */
export function frontMatterLength(source: string): number | undefined {
  const { 0: fence, 1: mark } = OPENING.exec(source) ?? [];
  if (fence === undefined || !FIRST_FIELD.test(source.slice(fence.length, fence.length + 400))) return 0;
  const closing = mark === '---' ? /\n(?:---|\.\.\.)[ \t]*(?=\n|$)/gu : /\n\+\+\+[ \t]*(?=\n|$)/gu;
  closing.lastIndex = fence.length;
  return closing.test(source) ? closing.lastIndex : undefined;
}
