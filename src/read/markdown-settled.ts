import type { Token } from 'markdown-it';
import { WAITS } from '../text/stage.ts';
import { hasWord } from '../text/unicode.ts';
import { tagOf } from './html-elements.ts';
import type { SpokenBlock } from './markdown-blocks.ts';
import { spokenInline } from './markdown-inline.ts';
import type { MarkdownDocument } from './markdown-parser.ts';

/** The beginning of a document that keeps its reading, whatever is written after it. */
interface Settled {
  readonly tokens: readonly Token[];
  /** True if the last of them is an incomplete paragraph. */
  readonly isOpen: boolean;
  /** What is known to follow the last word. */
  readonly gap: SpokenBlock['gap'];
  /** UTF-16 units that need not be parsed again. */
  readonly finished: number;
  /** Their placeholder. */
  readonly left: string;
}

/** UTF-16 units. The words of a longer paragraph that were given out are not parsed again. */
const LONG_PARAGRAPH = 2048;
/** Their placeholder, so that the rest is parsed as the rest of a paragraph. A noncharacter. */
export const LEFT = '\uFDD0';

const LEAF = /^(?:paragraph_open|heading_open|fence|code_block|html_block|hr|table_open)$/u;
const CONTAINER = /^(?:list_item_open|blockquote_open|footnote_reference_open)$/u;

/** @param idle milliseconds without text */
export function settledPart(document: MarkdownDocument, idle: number): Settled {
  const { source, blocks } = document;
  const at = blocks.findLastIndex(({ type, map }) => map && (LEAF.test(type) || CONTAINER.test(type)));
  const leaf = blocks[at];
  if (!leaf?.map) return { tokens: [], isOpen: false, gap: '', finished: 0, left: '' };
  const before: Settled = {
    tokens: blocks.slice(0, at),
    isOpen: false,
    gap: isListed(blocks, at) && isListed(blocks, inlineBefore(blocks, at)) ? '\n' : '\n\n',
    finished: lastStart(document),
    left: '',
  };
  if (CONTAINER.test(leaf.type)) return before;
  const [start, end] = leaf.map;
  const [line, after] = [source.lastIndexOf('\n') + 1, document.offsetOf(end)];
  const isLine = source.charAt(after - 1) === '\n';
  const isClosed = leaf.type !== 'fence' || end - start - 2 === leaf.content.split('\n').length - 1;
  // A line that has only begun may be indented.
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

/** The start of the last block, or of the last item if that is a list, in UTF-16 units. */
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

/** Its complete rows. After a wait, a row needs no line end. */
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
  /** True if its last line is complete. */
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
  // Signs without a word may become a part of one.
  if (!hasWord(spokenInline(document.inline(settled), {})))
    return inline.content.startsWith(LEFT) ? { ...before, gap: '' } : before;
  const isAll = length === inline.content.length;
  const tokens = [...blocks.slice(0, at + 1), { ...inline, content: settled } as Token];
  if (leaf.level > 0 && isLine && isAll && idle >= WAITS.line) return { ...before, tokens, gap: '\n' };
  const finished = textEnd - (inline.content.length - length);
  const open = { ...before, tokens, isOpen: true, gap: source.charAt(finished) === ' ' ? ' ' : '' } as const;
  return leaf.level === 0 && finished > LONG_PARAGRAPH ? { ...open, finished, left: LEFT } : open;
}

/** How often the parser is asked for the marks in front of one that is open. */
const MOST_TRIES = 4;

interface Waiting {
  /** True if the last word does not go on. */
  readonly isWhole: boolean;
  /** True if no line that follows makes a table of the text. */
  readonly isSure: boolean;
}

/**
 * UTF-16 units of the beginning of a paragraph that are read alike, whatever follows: no mark, bracket, code or tag is open
 * after them.
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

/** UTF-16 units without the last lines, as long as the next one may make a table or a definition of them. */
function lengthBeforeTable(content: string): number {
  if (DEFINITION.test(content)) return 0;
  const line = content.lastIndexOf('\n') + 1;
  const start = TABLE_BORDER.test(content.slice(line)) ? content.lastIndexOf('\n', line - 2) + 1 : line;
  return content.slice(start).replaceAll(CODE, '').includes('|') ? Math.max(0, start - 1) : content.length;
}

/** Scripts without spaces between words, and their marks. */
const DENSE =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\u3000-\u303f\uff00-\uffef]/u;

/** UTF-16 units up to the end of the last word that does not go on. */
function wordBorder(text: string): number {
  let at = text.length;
  while (at > 0 && !/\s/u.test(text.charAt(at - 1)) && !DENSE.test(text.charAt(at - 1))) at -= 1;
  return text.slice(0, at).trimEnd().length;
}

/** Signs that the parser has taken for text, and that may be marks with what follows. */
const OPEN_SIGNS = [
  // One that can open emphasis (CommonMark 0.31, section 6.2).
  /(?<!\\|\d(?=\*\d))\*(?=[^\s*])(?:(?=[^\p{P}\p{S}])|(?<=(?:^|[\s\p{P}\p{S}])\*))/u,
  /(?<!\\)_(?=[^\s_])(?<=(?:^|[^\p{L}\p{N}_])_+)/u,
  /(?<!\\)(?:~~(?=[^\s~])|==(?=[^\s=])|%%|`|\\$)/u,
  /(?<!\\)<(?=[a-z!/?])[^<>]{0,300}$/iu,
  // One that can only open what is still to come.
  /(?<!\S)[*_~=]+$/u,
  // A formula; a price is none.
  /(?<!\\)\$\$?(?!\s|\d[\d.,]*(?:[\s)!?;:]|$))[^$]{0,300}$/u,
];

/**
 * @param tokens those of the beginning of the content
 * @returns where the first mark is that has no end, or a place in front of it
 */
function openMark(tokens: readonly Token[], content: string): number | undefined {
  let written = '';
  /** Where each token begins: in what is written of them, and in the content. */
  const places: (readonly [number, number])[] = [];
  /** Where the elements begin that are open. */
  const elements: number[] = [];
  let at = 0;
  for (const { type, content: text, markup } of tokens) {
    const source = type === 'text_special' ? markup : /^(?:text|html_inline)$/u.test(type) ? text : '';
    at = Math.max(at, content.indexOf(source, at));
    places.push([written.length, at]);
    at += source.length;
    if (type === 'html_inline') passTag(source, written.length, elements);
    written += type.startsWith('text') ? source : standIn(type);
  }
  const open = Math.min(firstOpen(written), ...elements);
  if (open === written.length) return undefined;
  const [start, place] = places.findLast(([each]) => each <= open) ?? [0, 0];
  return place + open - start;
}

function passTag(source: string, at: number, elements: number[]): void {
  const tag = tagOf(source);
  if (tag?.isEnd) elements.pop();
  else if (tag && !tag.isEmpty) elements.push(at);
}

/** Marks that are complete leave nothing; code and the like stand next to marks as words do. */
function standIn(type: string): string {
  if (/_(?:open|close)$/u.test(type)) return '';
  return type.endsWith('break') ? '\n' : 'x';
}

/** @returns the length of a text in which nothing is open */
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
