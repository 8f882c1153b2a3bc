import type { Token } from 'markdown-it';
import { withFullStop } from '../text/marks.ts';
import { fitting } from '../text/unicode.ts';
import { codeOmitted, noteAfter } from './html-elements.ts';
import { spokenInline, TableReader } from './markdown-inline.ts';
import {
  admonitionOf,
  type Callout,
  calloutOf,
  isPropertyList,
  isQuery,
  withoutIcon,
  withoutProperties,
} from './markdown-notes.ts';
import type { MarkdownDocument } from './markdown-parser.ts';
import type { MarkdownOptions } from './reading.ts';

export interface SpokenBlock {
  /** A scene change has no text. */
  readonly kind: 'text' | 'heading' | 'scene';
  /** From 1 for the highest heading; 0 for other blocks. */
  readonly level: number;
  /** The border to the block before: nothing, a space within a paragraph, a line break in a tight list, a paragraph. */
  readonly gap: '' | ' ' | '\n' | '\n\n';
  readonly text: string;
  /** The line of the source where it begins, from 0. */
  readonly line: number;
}

/** UTF-16 units of inline text parsed at once, which takes 20 ms at most. */
const LONGEST_INLINE = 8192;

/**
 * @param tokens the document's tokens, or the first of them
 * @param isOpen true if the last token is an incomplete paragraph, which gets no full stop
 */
export function spokenBlocks(
  document: MarkdownDocument,
  options: MarkdownOptions,
  tokens = document.blocks,
  isOpen = false,
): Generator<SpokenBlock> {
  return new BlockReader(document, options, tokens, isOpen).read();
}

type Rule = (token: Token, at: number) => string | undefined;

class BlockReader {
  readonly #document: MarkdownDocument;
  readonly #options: MarkdownOptions;
  readonly #tokens: readonly Token[];
  readonly #isOpen: boolean;
  readonly #footnotes: Footnotes;
  #isFirst = true;
  /** True if the block before was part of the same paragraph. */
  #isPart = false;
  #isSkipping = false;
  #lists = 0;
  #table: TableReader | undefined;
  /** Text before the next block: an item's number, a footnote's label. */
  #lead = '';
  #isTight = false;
  #isContinued = false;
  #endsLikeSentence = false;
  #level = 0;

  constructor(
    document: MarkdownDocument,
    options: MarkdownOptions,
    tokens: readonly Token[],
    isOpen: boolean,
  ) {
    this.#document = document;
    this.#options = options;
    this.#tokens = tokens;
    this.#isOpen = isOpen;
    this.#footnotes = new Footnotes(document, options, tokens);
  }

  *read(): Generator<SpokenBlock> {
    let line = 0;
    for (const [at, token] of this.#tokens.entries()) {
      line = token.map?.[0] ?? line;
      if (this.#skips(token)) continue;
      if (token.type === 'hr') yield { kind: 'scene', level: 0, text: '', line, gap: '' };
      this.#isPart = false;
      for (const part of this.#partsOf(token)) {
        const text = this.#textOf(part, at);
        if (text) yield this.#block(text, line);
      }
    }
  }

  #block(spoken: string, line: number): SpokenBlock {
    const level = this.#level;
    const border = this.#isTight && this.#isContinued ? '\n' : '\n\n';
    const gap = this.#isFirst ? '' : this.#isPart ? ' ' : border;
    const text = this.#lead + spoken;
    this.#lead = '';
    this.#isFirst = false;
    this.#isPart = true;
    this.#isContinued = true;
    return { kind: level > 0 ? 'heading' : 'text', level, text, line, gap };
  }

  /** True within a footnote that is read elsewhere, or not at all. */
  #skips({ type, meta }: Token): boolean {
    if (type === 'footnote_reference_open') this.#isSkipping = this.#footnotes.has(String(meta?.label));
    const isSkipped = this.#isSkipping;
    if (type === 'footnote_reference_close') this.#isSkipping = false;
    return isSkipped;
  }

  /** Splits a long paragraph. Markup that spans two parts is spoken as text. */
  #partsOf(token: Token): readonly Token[] {
    const { content } = token;
    if (token.type !== 'inline' || content.length <= LONGEST_INLINE || this.#table || this.#endsLikeSentence)
      return [token];
    const parts: Token[] = [];
    for (let at = 0; at < content.length; ) {
      const part = partOf(content.slice(at, at + LONGEST_INLINE));
      at += part.length;
      parts.push({ ...token, content: part } as Token);
    }
    return parts;
  }

  #textOf(token: Token, at: number): string | undefined {
    const rule = Object.hasOwn(this.#rules, token.type) ? this.#rules[token.type] : undefined;
    return rule?.(token, at) || this.#tooDeep(token);
  }

  readonly #rules: Readonly<Record<string, Rule>> = {
    heading_open: ({ tag }) => this.#startBlock(true, false, Number(tag.slice(1))),
    paragraph_open: ({ hidden }) => this.#startBlock(this.#lists > 0, hidden),
    inline: ({ content }, at) => this.#inline(content, at),
    html_block: ({ content }) => {
      this.#startBlock(false);
      return this.#spoken(withoutIcon(content));
    },
    fence: ({ content, info }) => this.#code(content, info),
    code_block: ({ content }) => this.#code(content, ''),
    bullet_list_open: () => this.#enterList(),
    ordered_list_open: () => this.#enterList(),
    bullet_list_close: () => this.#leaveList(),
    ordered_list_close: () => this.#leaveList(),
    list_item_open: ({ info }) => this.#addLead(info === '' ? '' : `${info}. `),
    list_item_close: () => this.#dropLead(),
    footnote_reference_open: ({ meta }) => this.#addLead(`${meta?.label}: `),
    footnote_reference_close: () => this.#dropLead(),
    table_open: () => {
      this.#table = new TableReader();
      this.#startBlock(true, true);
      this.#isContinued = false;
    },
    tr_open: () => this.#table?.startRow(),
    thead_close: () => this.#table?.endHead(),
    tr_close: (_, at) => (this.#tokens[at + 1]?.type === 'thead_close' ? undefined : this.#table?.endRow()),
    table_close: () => {
      const text = this.#table?.end();
      this.#table = undefined;
      return text;
    },
  };

  #startBlock(endsLikeSentence: boolean, isTight = false, level = 0): undefined {
    this.#endsLikeSentence = endsLikeSentence;
    this.#isTight = isTight;
    this.#level = level;
  }

  #inline(content: string, at: number): string | undefined {
    const goesOn = this.#isOpen && at === this.#tokens.length - 1;
    const text = this.#words(withoutProperties(content), at, goesOn);
    if (this.#table) return this.#table.cell(text);
    return this.#endsLikeSentence && !goesOn ? withFullStop(text) : text;
  }

  #words(content: string, at: number, goesOn: boolean): string {
    const container = this.#tokens[at - 2]?.type;
    // The first paragraph below a title that begins the document.
    if (at === TITLE_TOKENS + 1 && this.#tokens[0]?.tag === 'h1' && isPropertyList(content)) return '';
    if (container === 'list_item_open') return this.#spoken(content.replace(TASK, ''));
    const callout = container === 'blockquote_open' ? calloutOf(content) : undefined;
    return callout ? this.#callout(callout, goesOn) : this.#spoken(content);
  }

  /** Speaks a callout, with its title as a sentence. */
  #callout({ lead, title, body }: Callout, goesOn = false): string {
    const [name, text] = [this.#spoken(title), this.#spoken(body)];
    if (name === '' || (text === '' && goesOn)) return lead + name + text;
    return `${lead}${withFullStop(name)} ${text}`.trimEnd();
  }

  #spoken(markdown: string): string {
    return spokenInline(this.#document.inline(markdown), {
      math: this.#options.math,
      noteAfter: (said, note) => this.#footnotes.noteAfter(said, note),
    });
  }

  /** @param info begins with the language */
  #code(content: string, info: string): string {
    this.#startBlock(true);
    const language = /^[\p{L}\p{N}][\p{L}\p{N}+#.-]{0,30}/u.exec(info.trim())?.[0];
    const admonition = language && admonitionOf(language, content);
    if (admonition) return this.#callout(admonition);
    if (this.#options.code === 'skip' || (language && isQuery(language))) return '';
    if (this.#options.code === 'read') return content.trim();
    return codeOmitted(language);
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

  #tooDeep(token: Token): string {
    const text = this.#document.leftOut(token);
    if (text === undefined) return '';
    this.#startBlock(true);
    return this.#spoken(text);
  }
}

/** Cuts after the last white space, or at least not within a surrogate pair. */
function partOf(content: string): string {
  if (content.length < LONGEST_INLINE) return content;
  const space = content.search(/\s\S*$/u);
  return space > 0 ? content.slice(0, space + 1) : fitting(content, LONGEST_INLINE - 1);
}

/** The box of a task, which is silent. */
const TASK = /^\[[ xX/<>?!*"+~-]\](?:\s+|$)/u;

/** The number of tokens that a heading has. */
const TITLE_TOKENS = 3;

/** The notes of a document that is read once. */
class Footnotes {
  readonly #how: MarkdownOptions['footnotes'];
  readonly #notes = new Map<string, string>();
  readonly #said = new Set<string>();
  readonly #spoken: (text: string) => string;

  constructor(
    document: MarkdownDocument,
    { footnotes: how, math }: MarkdownOptions,
    tokens: readonly Token[],
  ) {
    this.#how = how;
    this.#spoken = (text) => spokenInline(document.inline(text), { math });
    const notes = new Map<string, string[]>();
    const texts: string[] = [];
    let contents = texts;
    for (const { type, content, meta } of tokens) {
      if (type === 'footnote_reference_open') {
        contents = [];
        notes.set(String(meta?.label), contents);
      } else if (type === 'footnote_reference_close') contents = texts;
      else if (type === 'inline') contents.push(content);
    }
    const labels = notes.size === 0 || how === 'skip' ? [] : texts.flatMap(labelsIn);
    const referred = new Set(labels);
    for (const [label, contents] of notes)
      if (how === 'skip' || referred.has(label))
        this.#notes.set(label, contents.map((each) => this.#spoken(each)).join(' '));
  }

  has(label: string): boolean {
    return this.#notes.has(label);
  }

  /**
   * Returns a note after its first reference only.
   * @param said the text before the reference, or before an inline note
   */
  noteAfter(said: string, { type, content, meta }: Token): string {
    if (this.#how === 'skip') return '';
    const note = type === 'inline_note' ? this.#spoken(content) : this.#take(String(meta?.label));
    return note ? noteAfter(said, note) : '';
  }

  #take(label: string): string | undefined {
    if (this.#said.has(label)) return undefined;
    this.#said.add(label);
    return this.#notes.get(label);
  }
}

function labelsIn(text: string): readonly string[] {
  return [...text.matchAll(/\[\^([^\s[\]]+)\]/gu)].map(([, label = '']) => label);
}
