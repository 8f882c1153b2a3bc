import { chained } from '../kit/wait.ts';
import type { TableKind } from './table.ts';

/** How a table with a header is laid out, as its first lines show it. */
export interface Layout {
  /** One character. */
  readonly delimiter: string;
  readonly linesBefore: number;
  /** The table from its header on. */
  readonly text: AsyncIterable<string>;
}

interface LayoutOptions {
  readonly kind: TableKind;
  /** What `--delimiter` says. */
  readonly delimiter: string | undefined;
  /** True for cells that name the columns of a batch. */
  readonly isHeader: (cells: readonly string[]) => boolean;
}

const NAMES = new Map([
  [',', ['a comma', 'commas']],
  [';', ['a semicolon', 'semicolons']],
  ['\t', ['a tab', 'tabs']],
  ['|', ['a vertical bar', 'vertical bars']],
]);

/** Excel separates cells as the region of Windows separates the items of a list; in Persian with U+061B. */
const DELIMITERS = [...NAMES.keys(), '\u061b'];

/** The delimiter in a sentence. */
export function delimiterInWords(delimiter: string): { readonly one: string; readonly many: string } {
  const [one = `"${delimiter}"`, many = one] = NAMES.get(delimiter) ?? [];
  return { one, many };
}

/** LibreOffice puts quotes around such a line where the delimiter is in it, or adds its own delimiters. */
const SEP = /^"?sep=([^"\r\n]?)"?[;,\t|]*[\r\n]?$/iu;

/**
 * The delimiter is what is set, or what a first line `sep=;` names, as Excel reads it. Otherwise the header tells it: it is the
 * one that makes the columns of a batch, or else the most columns. Lines of one cell above such a header are the name of the
 * table, as Numbers writes it.
 */
export async function layoutOf(text: AsyncIterable<string>, options: LayoutOptions): Promise<Layout> {
  const start = new Start(text);
  const first = await start.line();
  const [, named] = SEP.exec(first) ?? [];
  if (named !== undefined) {
    const delimiter = options.delimiter ?? (named || undefined);
    return layout(first, await start.line(), start, { ...options, delimiter });
  }
  let before = '';
  let line = first;
  for (let lines = 0; lines < MOST_TITLES && isTitle(line, options); lines += 1) {
    before += line;
    line = await start.line();
    if (isHeader(line, options)) return layout(before, line, start, options);
  }
  return layout('', first, start, options);
}

/** Lines. */
const MOST_TITLES = 5;

function isTitle(line: string, options: LayoutOptions): boolean {
  const isOneCell = (each: string) => cellsOf(line, each).filter((cell) => cell !== '').length === 1;
  return !isHeader(line, options) && likely(options).every(isOneCell);
}

function isHeader(line: string, options: LayoutOptions): boolean {
  return likely(options).some((each) => options.isHeader(cellsOf(line, each)));
}

function layout(before: string, header: string, start: Start, options: LayoutOptions): Layout {
  const linesBefore = before.split(/\r\n?|\n/u).length - 1;
  return { delimiter: delimiterOf(header, options), linesBefore, text: start.from(before.length) };
}

/** The delimiters that a header may have; the usual one of the kind comes first. */
function likely({ kind, delimiter }: LayoutOptions): readonly string[] {
  if (delimiter !== undefined) return [delimiter];
  return kind === 'tsv' ? ['\t', ...DELIMITERS] : DELIMITERS;
}

function delimiterOf(header: string, options: LayoutOptions): string {
  const each = likely(options).map((delimiter) => ({ delimiter, cells: cellsOf(header, delimiter) }));
  const most = Math.max(...each.map(({ cells }) => cells.length));
  const found =
    each.find(({ cells }) => options.isHeader(cells)) ?? each.find(({ cells }) => cells.length === most);
  return found?.delimiter ?? ',';
}

/** What is between quotes is not divided. */
function cellsOf(line: string, delimiter: string): string[] {
  const cells = [''];
  let isQuoted = false;
  for (const character of line)
    if (character === '"') isQuoted = !isQuoted;
    else if (character === delimiter && !isQuoted) cells.push('');
    else cells[cells.length - 1] += character;
  return cells.map((cell) => cell.trim());
}

/** UTF-16 units. The header is looked for in so much. */
const LONGEST_START = 65_536;

/** A row without any other character is empty, as those are that a spreadsheet has formatted only. */
const IN_EMPTY_ROWS = new Set([' ', '\r', '\n', '"', ...DELIMITERS]);

/** The first lines of a text, which stay in it. */
class Start {
  readonly #pieces: AsyncIterator<string>;
  #read = '';
  #at = 0;
  #isQuoted = false;
  #isEmpty = true;

  constructor(text: AsyncIterable<string>) {
    this.#pieces = text[Symbol.asyncIterator]();
  }

  /** The next line that is not empty, with its end and with the empty lines above it. A line break between quotes is no end. */
  async line(): Promise<string> {
    const from = this.#at;
    this.#isEmpty = true;
    while (!this.#findEnd() && this.#read.length < LONGEST_START) {
      const { done, value } = await this.#pieces.next();
      if (done) break;
      this.#read += value;
    }
    return this.#read.slice(from, this.#at);
  }

  #findEnd(): boolean {
    while (this.#at < this.#read.length) {
      const character = this.#read[this.#at] ?? '';
      this.#at += 1;
      if (character === '"') this.#isQuoted = !this.#isQuoted;
      else if (!IN_EMPTY_ROWS.has(character)) this.#isEmpty = false;
      const isEnd = (character === '\n' || character === '\r') && !this.#isQuoted;
      if (isEnd && !this.#isEmpty) return true;
    }
    return false;
  }

  /** All of the text behind so many characters. */
  from(length: number): AsyncGenerator<string> {
    return chained([this.#read.slice(length)], this.#pieces);
  }
}
