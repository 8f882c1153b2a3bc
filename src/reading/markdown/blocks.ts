import type { Token } from 'markdown-it';
import { fitting } from '../../text/unicode.ts';
import { withFullStop } from '../sentence-end.ts';
import { Footnotes } from './footnotes.ts';
import { spokenInline } from './inline.ts';
import type { MarkdownDocument, MarkdownOptions } from './parser.ts';
import { TableReader } from './table.ts';

/** What is between two blocks: nothing, a part of the same paragraph, a tight item or row, a paragraph. */
type Gap = '' | ' ' | '\n' | '\n\n';

export interface SpokenBlock {
  /** A change of scene has no text. */
  readonly kind: 'text' | 'heading' | 'scene';
  /** 1 is the highest heading, 0 stands for other blocks. */
  readonly level: number;
  readonly gap: Gap;
  readonly text: string;
  /** It begins in this line of the source, from 0. */
  readonly line: number;
}

interface BlockOptions extends MarkdownOptions {
  /** True if the last paragraph goes on: it gets no full stop. */
  readonly isOpen?: boolean | undefined;
}

export function* spokenBlocks(document: MarkdownDocument, options: BlockOptions): Generator<SpokenBlock> {
  let isFirst = true;
  for (const { kind, level, text, line, isTight, goesOn } of new BlockReader(document, options).read()) {
    const border = isTight ? '\n' : '\n\n';
    yield { kind, level, gap: goesOn ? ' ' : isFirst ? '' : border, text, line };
    isFirst &&= kind === 'scene';
  }
}

/** UTF-16 units of inline text that are parsed at once: 20 ms for any text. */
const LONGEST_INLINE = 8192;

interface Block extends Omit<SpokenBlock, 'gap'> {
  /** True if it shares a paragraph with the block before. */
  readonly isTight: boolean;
  /** True for a further part of a long paragraph. */
  readonly goesOn: boolean;
}

type Rule = (token: Token, at: number) => string | undefined;

class BlockReader {
  readonly #document: MarkdownDocument;
  readonly #code: MarkdownOptions['code'];
  readonly #math: MarkdownOptions['math'];
  readonly #footnotes: Footnotes;
  #isSkipping = false;
  #lists = 0;
  #table: TableReader | undefined;
  /** An item's number, a footnote's label. */
  #lead = '';
  #isTight = false;
  #isContinued = false;
  #endsLikeSentence = false;
  #level = 0;
  /** The number of the token that goes on. */
  readonly #open: number;

  constructor(document: MarkdownDocument, options: BlockOptions) {
    this.#document = document;
    this.#open = options.isOpen ? document.blocks.findLastIndex(({ type }) => type === 'inline') : -1;
    this.#code = options.code;
    this.#math = options.math;
    this.#footnotes = new Footnotes(document, options);
  }

  *read(): Generator<Block> {
    let line = 0;
    for (const [at, token] of this.#document.blocks.entries()) {
      line = token.map?.[0] ?? line;
      if (this.#skips(token)) continue;
      if (token.type === 'hr')
        yield { kind: 'scene', level: 0, text: '', line, isTight: false, goesOn: false };
      let goesOn = false;
      for (const part of this.#partsOf(token)) {
        const text = this.#textOf(part, at);
        if (!text) continue;
        const isTight = this.#isTight && this.#isContinued;
        const level = this.#level;
        const kind = level > 0 ? 'heading' : 'text';
        yield { kind, level, text: this.#lead + text, line, isTight, goesOn };
        goesOn = true;
        this.#lead = '';
        this.#isContinued = true;
      }
    }
  }

  #textOf(token: Token, at: number): string | undefined {
    const rule = Object.hasOwn(this.#rules, token.type) ? this.#rules[token.type] : undefined;
    return rule?.(token, at) || this.#tooDeep(token);
  }

  /** A mark that spans two parts of a long paragraph is spoken as it stands. */
  *#partsOf(token: Token): Generator<Token> {
    const { content } = token;
    if (token.type !== 'inline' || content.length <= LONGEST_INLINE || this.#table || this.#endsLikeSentence)
      return yield token;
    for (let at = 0; at < content.length; ) {
      const part = partOf(content.slice(at, at + LONGEST_INLINE));
      at += part.length;
      yield { ...token, content: part } as Token;
    }
  }

  /** A footnote that is read elsewhere, or nowhere. */
  #skips({ type, meta }: Token): boolean {
    if (type === 'footnote_reference_open') this.#isSkipping = this.#footnotes.has(String(meta?.label));
    const isSkipped = this.#isSkipping;
    if (type === 'footnote_reference_close') this.#isSkipping = false;
    return isSkipped;
  }

  readonly #rules: Readonly<Record<string, Rule>> = {
    heading_open: ({ tag }) => this.#startHeading(Number(tag.slice(1))),
    paragraph_open: ({ hidden }) => this.#startBlock(this.#lists > 0, hidden),
    inline: ({ content }, at) => this.#inline(content, at),
    html_block: ({ content }) => this.#html(content),
    fence: ({ content, info }) => this.#codeBlock(content, info),
    code_block: ({ content }) => this.#codeBlock(content, ''),
    bullet_list_open: () => this.#enterList(),
    ordered_list_open: () => this.#enterList(),
    bullet_list_close: () => this.#leaveList(),
    ordered_list_close: () => this.#leaveList(),
    list_item_open: ({ info }) => this.#addLead(info === '' ? '' : `${info}. `),
    list_item_close: () => this.#dropLead(),
    footnote_reference_open: ({ meta }) => this.#addLead(`${meta?.label}: `),
    footnote_reference_close: () => this.#dropLead(),
    table_open: () => this.#startTable(),
    tr_open: () => this.#startRow(),
    thead_close: () => this.#table?.endHead(),
    tr_close: (_, at) =>
      this.#document.blocks[at + 1]?.type === 'thead_close' ? undefined : this.#table?.endRow(),
    table_close: () => this.#endTable(),
  };

  #startHeading(level: number): undefined {
    this.#startBlock(true);
    this.#level = level;
  }

  #startBlock(endsLikeSentence: boolean, isTight = false): undefined {
    this.#level = 0;
    this.#endsLikeSentence = endsLikeSentence;
    this.#isTight = isTight;
  }

  #inline(content: string, at: number): string | undefined {
    const container = this.#document.blocks[at - 2]?.type;
    const text = this.#spoken(spokenMarker(content, container));
    if (!this.#table) return this.#endsLikeSentence && at !== this.#open ? withFullStop(text) : text;
    this.#table.cell(text);
    return undefined;
  }

  #html(content: string): string {
    this.#startBlock(false);
    return this.#spoken(content);
  }

  #spoken(markdown: string): string {
    const tokens = this.#document.inline(markdown);
    const noteAfter = (said: string, note: Token) => this.#footnotes.noteAfter(said, note);
    return spokenInline(tokens, { math: this.#math, noteAfter });
  }

  #codeBlock(content: string, info: string): string {
    this.#startBlock(true);
    return spokenCode(content, info, this.#code);
  }

  #enterList(): undefined {
    if (this.#lists === 0) this.#isContinued = false;
    this.#lists += 1;
  }

  #leaveList(): undefined {
    this.#lists -= 1;
  }

  #addLead(lead: string): undefined {
    this.#lead += lead;
  }

  #dropLead(): undefined {
    this.#lead = '';
  }

  #startTable(): undefined {
    this.#table = new TableReader();
    this.#startBlock(true, true);
    this.#isContinued = false;
  }

  #startRow(): undefined {
    this.#table?.startRow();
  }

  #endTable(): string | undefined {
    const text = this.#table?.end();
    this.#table = undefined;
    return text;
  }

  #tooDeep(token: Token): string {
    const text = this.#document.leftOut(token);
    if (text === undefined) return '';
    this.#startBlock(true);
    return this.#spoken(text);
  }
}

/** @param info its first word is the language */
function spokenCode(content: string, info: string, code: MarkdownOptions['code']): string {
  if (code === 'skip') return '';
  if (code === 'read') return content.trim();
  const language = /^[\p{L}\p{N}][\p{L}\p{N}+#.-]{0,30}/u.exec(info.trim())?.[0];
  return language ? `Code in ${language} omitted.` : 'Code omitted.';
}

/**
 * A task's box is silent, an alert's kind is its first word.
 * @param container token type around the paragraph
 */
function spokenMarker(paragraph: string, container: string | undefined): string {
  if (container === 'list_item_open') return paragraph.replace(/^\[[ xX]\]\s+/u, '');
  if (container !== 'blockquote_open') return paragraph;
  return paragraph.replace(
    /^\[!(\p{L})(\p{L}{0,20})\]\s*/u,
    (_, first, rest) => `${first.toUpperCase()}${rest.toLowerCase()}: `,
  );
}

/** Up to the last white space, or without half a surrogate pair. */
function partOf(content: string): string {
  if (content.length < LONGEST_INLINE) return content;
  const space = content.search(/\s\S*$/u);
  return space > 0 ? content.slice(0, space + 1) : fitting(content, LONGEST_INLINE - 1);
}
