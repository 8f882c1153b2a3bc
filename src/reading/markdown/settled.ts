import type { Token } from 'markdown-it';
import { WAITS } from '../../text/complete.ts';
import { settledInline } from './inline-settled.ts';

/** The beginning of a document that keeps its reading, whatever is written after it. */
export interface Settled {
  /** UTF-16 units. */
  readonly length: number;
  /** True if its last block goes on. */
  readonly isOpen: boolean;
  /** True if its last block may have a neighbour of the same list or table, or go on after a wait. */
  readonly isInList: boolean;
  /** True if what follows has nothing to do with it. */
  readonly isEnd: boolean;
  /** The title row of a table at the start that goes on, with the row below it. */
  readonly head?: string;
}

/** Lines, from 0; the second one is after the block. */
type Lines = readonly [number, number];

type Leaf = Token & { map: Lines };

const LEAF = /^(?:paragraph_open|heading_open|fence|code_block|html_block|hr|table_open)$/u;
const CONTAINER = /^(?:list_item_open|blockquote_open|footnote_reference_open)$/u;

/**
 * @param blocks the tokens of the source
 * @param idle milliseconds without text
 */
export function settledPart(source: string, blocks: readonly Token[], idle: number): Settled {
  const offsets = new LineOffsets(source);
  const at = blocks.findLastIndex(
    (token) => token.map && (LEAF.test(token.type) || CONTAINER.test(token.type)),
  );
  const leaf = blocks[at] as Leaf | undefined;
  if (!leaf) return { length: 0, isOpen: false, isInList: false, isEnd: false };
  const [start, end] = [offsets.of(leaf.map[0]), offsets.of(leaf.map[1])];
  const isInList = isListed(blocks, at);
  // A line that has only begun may be indented.
  const length = source.lastIndexOf('\n') + 1;
  const whole = { length, isOpen: false, isInList, isEnd: leaf.level === 0 };
  const held = { length: start, isOpen: false, isInList, isEnd: false };
  if (CONTAINER.test(leaf.type)) return held;
  const isFollowed = source.slice(end).includes('\n');
  const isLine = source.slice(0, end).endsWith('\n');
  if (isFollowed) return whole;
  switch (leaf.type) {
    case 'paragraph_open':
      return openParagraph(source, start, { isInList, isLine: isLine && leaf.level > 0, idle });
    case 'heading_open':
    case 'hr':
      return isLine ? whole : held;
    case 'fence':
      return isLine && isClosedFence(leaf) ? whole : held;
    case 'table_open':
      return openTable(source, held, { body: offsets.bodyOf(blocks, at), idle });
    default:
      return held;
  }
}

interface Paragraph {
  readonly isInList: boolean;
  /** True if a wait after its line ends it. */
  readonly isLine: boolean;
  readonly idle: number;
}

function openParagraph(source: string, start: number, { isInList, isLine, idle }: Paragraph): Settled {
  const length = start + settledInline(source.slice(start), idle);
  const isEnded = isLine && idle >= WAITS.line && length === source.length;
  return { length, isOpen: length > start && !isEnded, isInList: isInList || isEnded, isEnd: false };
}

interface Table {
  /** The first row begins here. */
  readonly body: number;
  readonly idle: number;
}

/** Its complete rows, if there are some. After a wait, a row needs no line end. */
function openTable(source: string, held: Settled, { body, idle }: Table): Settled {
  const lastLine = source.lastIndexOf('\n') + 1;
  const isWhole = () => barsIn(source.slice(lastLine)) >= barsIn(lineBefore(source, body));
  const end = idle >= WAITS.line && isWhole() ? source.length : lastLine;
  if (body >= end) return held;
  const head = held.length === 0 ? { head: source.slice(0, body) } : undefined;
  return { ...held, length: end, isInList: true, ...head };
}

function lineBefore(source: string, at: number): string {
  return source.slice(0, at).trimEnd().split('\n').at(-1) ?? '';
}

function barsIn(row: string): number {
  return row.split('|').length - 1;
}

function isListed(blocks: readonly Token[], at: number): boolean {
  const level = blocks[at]?.level ?? 0;
  return blocks.slice(0, at).some(({ type, level: outer }) => type === 'list_item_open' && outer < level);
}

/** The lines of an open fence are one more than those of its content. */
function isClosedFence({ map: [start, end], content }: Leaf): boolean {
  return end - start - 2 === content.split('\n').length - 1;
}

class LineOffsets {
  readonly #offsets = [0];

  constructor(source: string) {
    for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1))
      this.#offsets.push(at + 1);
    if (!source.endsWith('\n')) this.#offsets.push(source.length);
  }

  /** The first row of a table. */
  bodyOf(blocks: readonly Token[], table: number): number {
    const body = blocks.slice(table).find(({ type }) => type === 'tbody_open');
    return body?.map ? this.of(body.map[0]) : Number.POSITIVE_INFINITY;
  }

  of(line: number): number {
    return this.#offsets[line] ?? this.#offsets.at(-1) ?? 0;
  }
}
