/** Finds the part of a growing Markdown document that later text can no longer change. */
import type { Token } from 'markdown-it';
import { WAITS } from '../text/stage.ts';
import { hasWord, UNSPACED } from '../text/unicode.ts';
import { tagOf } from './html-elements.ts';
import type { SpokenBlock } from './markdown-blocks.ts';
import { spokenInline } from './markdown-inline.ts';
import type { MarkdownDocument } from './markdown-parser.ts';

/** The beginning of a document that is read in the same way whatever follows. */
interface Settled {
  readonly tokens: readonly Token[];
  /** True if the last token is an incomplete paragraph. */
  readonly isOpen: boolean;
  /** What is known to separate the last word from the next block. */
  readonly gap: SpokenBlock['gap'];
  /** UTF-16 units that need not be parsed again. */
  readonly finished: number;
  /** What replaces the finished text. */
  readonly placeholder: string;
}

/** UTF-16 units. In a longer paragraph, words that were emitted are not parsed again. */
const LONG_PARAGRAPH = 2048;
/** A noncharacter in place of words that were emitted, so that the rest is parsed as part of a paragraph. */
export const EMITTED = '\uFDD0';

const LEAF = /^(?:paragraph_open|heading_open|fence|code_block|html_block|hr|table_open)$/u;
const CONTAINER = /^(?:list_item_open|blockquote_open|footnote_reference_open)$/u;

/** @param idle milliseconds since the last text */
export function settledPart(document: MarkdownDocument, idle: number): Settled {
  const { source, blocks } = document;
  const at = blocks.findLastIndex(({ type, map }) => map && (LEAF.test(type) || CONTAINER.test(type)));
  const leaf = blocks[at];
  if (!leaf?.map) return { tokens: [], isOpen: false, gap: '', finished: 0, placeholder: '' };
  const before: Settled = {
    tokens: blocks.slice(0, at),
    isOpen: false,
    gap: isListed(blocks, at) && isListed(blocks, inlineBefore(blocks, at)) ? '\n' : '\n\n',
    finished: lastStart(document),
    placeholder: '',
  };
  if (CONTAINER.test(leaf.type)) return before;
  const [start, end] = leaf.map;
  const [line, after] = [source.lastIndexOf('\n') + 1, document.offsetOf(end)];
  const isLine = source.charAt(after - 1) === '\n';
  const isClosed = leaf.type !== 'fence' || end - start - 2 === leaf.content.split('\n').length - 1;
  // An incomplete line may still become indented.
  if (line > after || (isLine && isClosed && /^(?:heading_open|hr|fence)$/u.test(leaf.type)))
    return {
      ...before,
      tokens: blocks,
      gap: isListed(blocks, at) ? '\n' : '\n\n',
      finished: leaf.level === 0 ? line : before.finished,
    };
  if (leaf.type === 'table_open') return openTable(document, before, idle);
  return leaf.type === 'paragraph_open' ? openParagraph(document, before, { isLine, idle }) : before;
}

/** Returns where the last block begins, or the last item if it is a list, in UTF-16 units. */
function lastStart(document: MarkdownDocument): number {
  const at = document.blocks.findLastIndex(({ level, map }) => level === 0 && map);
  const isItem = ({ type, level }: Token) => type === 'list_item_open' && level === 1;
  const last = document.blocks.slice(at).findLast(isItem) ?? document.blocks[at];
  return document.offsetOf(last?.map?.[0] ?? 0);
}

function isListed(blocks: readonly Token[], at: number): boolean {
  const { level = 0, type = '' } = blocks[at] ?? {};
  const depth = type === 'list_item_open' ? level + 1 : level;
  return blocks.slice(0, at).some((token) => token.type === 'list_item_open' && token.level < depth);
}

function inlineBefore(blocks: readonly Token[], end: number): number {
  return blocks.findLastIndex(({ type }, at) => type === 'inline' && at < end);
}

/** Returns the complete rows of a table. After a wait, the last row needs no line end. */
function openTable({ source, blocks, offsetOf }: MarkdownDocument, before: Settled, idle: number): Settled {
  const body = blocks.findLastIndex(({ type }) => type === 'tbody_open');
  const line = source.lastIndexOf('\n') + 1;
  const border = source.slice(0, offsetOf(blocks[body]?.map?.[0] ?? 0)).trimEnd();
  const isRow =
    idle >= WAITS.line && barsIn(source.slice(line)) >= barsIn(border.slice(border.lastIndexOf('\n')));
  const end = isRow ? source.length : line;
  const row = blocks.findLastIndex(({ type, map }) => type === 'tr_open' && map && offsetOf(map[1]) <= end);
  if (body < 0 || row < body) return before;
  const rowEnd = blocks.findIndex(({ type }, at) => type === 'tr_close' && at > row);
  return { ...before, tokens: blocks.slice(0, rowEnd + 1), gap: '\n' };
}

function barsIn(row: string): number {
  return row.split('|').length - 1;
}

interface Paragraph {
  /** True if the last line is complete. */
  readonly isLine: boolean;
  readonly idle: number;
}

function openParagraph(document: MarkdownDocument, before: Settled, { isLine, idle }: Paragraph): Settled {
  const { source, blocks } = document;
  const at = before.tokens.length;
  const [leaf, inline] = [blocks[at], blocks[at + 1]] as [Token, Token];
  const textEnd = source.trimEnd().length;
  const isWhole = idle >= WAITS.sentence || textEnd < source.length;
  const length = settledLength(inline.content, document, { isWhole, isSure: idle >= WAITS.doubtful });
  const settled = inline.content.slice(0, length);
  // Signs without a word may become part of one.
  if (!hasWord(spokenInline(document.inline(settled), {})))
    return inline.content.startsWith(EMITTED) ? { ...before, gap: '' } : before;
  const isAll = length === inline.content.length;
  const tokens = [...blocks.slice(0, at + 1), { ...inline, content: settled } as Token];
  if (leaf.level > 0 && isLine && isAll && idle >= WAITS.line) return { ...before, tokens, gap: '\n' };
  const finished = textEnd - (inline.content.length - length);
  const open = { ...before, tokens, isOpen: true, gap: source.charAt(finished) === ' ' ? ' ' : '' } as const;
  return leaf.level === 0 && finished > LONG_PARAGRAPH ? { ...open, finished, placeholder: EMITTED } : open;
}

/** Attempts to find a place without open markup. */
const MOST_TRIES = 4;

interface Waiting {
  /** True if the last word is complete. */
  readonly isWhole: boolean;
  /** True if the text cannot become a table any more. */
  readonly isSure: boolean;
}

/**
 * Returns the UTF-16 units at the beginning of a paragraph that are read alike whatever follows: no emphasis, bracket, code
 * or tag is open after them.
 */
function settledLength(content: string, document: MarkdownDocument, { isWhole, isSure }: Waiting): number {
  const most = isSure ? content.length : lengthBeforeTable(content);
  let end = isWhole || most < content.length ? most : wordBorder(content);
  for (let tries = 0; tries < MOST_TRIES && end > 0; tries += 1) {
    const open = openMark(document.inline(content.slice(0, end)), content);
    if (open === undefined) return end;
    end = wordBorder(content.slice(0, open));
  }
  return 0;
}

const CODE = /`[^`\n]*`/gu;
const TABLE_BORDER = /^[\s>|:-]*$/u;
const DEFINITION = /^\[[^\]]*\]:[^\n]*$/u;

/** Returns the UTF-16 units without the last lines, if the next line may make a table or a definition of them. */
function lengthBeforeTable(content: string): number {
  if (DEFINITION.test(content)) return 0;
  const line = content.lastIndexOf('\n') + 1;
  const start = TABLE_BORDER.test(content.slice(line)) ? content.lastIndexOf('\n', line - 2) + 1 : line;
  return content.slice(start).replaceAll(CODE, '').includes('|') ? Math.max(0, start - 1) : content.length;
}

/** Scripts without spaces between words, and their punctuation. */
const DENSE = new RegExp(`[${UNSPACED}\\u3000-\\u303f\\uff00-\\uffef]`, 'u');

/** Returns the UTF-16 units up to the end of the last complete word. */
function wordBorder(text: string): number {
  let at = text.length;
  while (at > 0 && !/\s/u.test(text.charAt(at - 1)) && !DENSE.test(text.charAt(at - 1))) at -= 1;
  return text.slice(0, at).trimEnd().length;
}

/** Signs that the parser took for text, but that may become markup with what follows. */
const OPEN_SIGNS = [
  // An asterisk that can open emphasis (CommonMark 0.31, section 6.2).
  /(?<!\\|\d(?=\*\d))\*(?=[^\s*])(?:(?=[^\p{P}\p{S}])|(?<=(?:^|[\s\p{P}\p{S}])\*))/u,
  /(?<!\\)_(?=[^\s_])(?<=(?:^|[^\p{L}\p{N}_])_+)/u,
  /(?<!\\)(?:~~(?=[^\s~])|==(?=[^\s=])|%%|`|\\$)/u,
  /(?<!\\)<(?=[a-z!/?])[^<>]{0,300}$/iu,
  // Signs at the end that can only open markup.
  /(?<!\S)[*_~=]+$/u,
  // A formula. A price is none.
  /(?<!\\)\$\$?(?!\s|\d[\d.,]*(?:[\s)!?;:]|$))[^$]{0,300}$/u,
];

/**
 * @param tokens the parsed beginning of the content
 * @returns the position of the first unclosed markup, or a position before it
 */
function openMark(tokens: readonly Token[], content: string): number | undefined {
  let written = '';
  /** Where each token begins: in `written`, and in the content. */
  const places: (readonly [number, number])[] = [];
  /** Where the open elements begin in `written`. */
  const elements: number[] = [];
  let at = 0;
  for (const { type, content: text, markup } of tokens) {
    const source = type === 'text_special' ? markup : /^(?:text|html_inline)$/u.test(type) ? text : '';
    at = Math.max(at, content.indexOf(source, at));
    places.push([written.length, at]);
    at += source.length;
    if (type === 'html_inline') trackTag(source, written.length, elements);
    written += type.startsWith('text') ? source : standIn(type);
  }
  const open = Math.min(firstOpen(written), ...elements);
  if (open === written.length) return undefined;
  const [start, place] = places.findLast(([each]) => each <= open) ?? [0, 0];
  return place + open - start;
}

function trackTag(source: string, at: number, elements: number[]): void {
  const tag = tagOf(source);
  if (tag?.isEnd) elements.pop();
  else if (tag && !tag.isEmpty) elements.push(at);
}

/** Closed markup leaves nothing; code and the like stand for a word next to markup. */
function standIn(type: string): string {
  if (/_(?:open|close)$/u.test(type)) return '';
  return type.endsWith('break') ? '\n' : 'x';
}

/** @returns the position of the first open sign, or the length of the text if there is none */
function firstOpen(text: string): number {
  const target = text.lastIndexOf('](');
  const formula = text.lastIndexOf('\\(');
  const found = [
    ...OPEN_SIGNS.map((sign) => text.search(sign)),
    text.indexOf('[', text.lastIndexOf(']') + 1),
    text.indexOf(')', target) < 0 ? target : -1,
    text.indexOf('\\)', formula) < 0 ? formula : -1,
  ];
  return Math.min(text.length, ...found.filter((at) => at >= 0));
}
