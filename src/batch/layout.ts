/** Finds the delimiter and the header of a CSV or TSV table. */
import { chained } from '../kit/wait.ts';
import type { TableKind } from './table.ts';

/** The layout of a table with a header, found in its first lines. */
export interface Layout {
  /** One character. */
  readonly delimiter: string;
  /** Lines before the header. */
  readonly linesBefore: number;
  /** The text from the header on. */
  readonly text: AsyncIterable<string>;
}

interface LayoutOptions {
  readonly kind: TableKind;
  /** The value of `--delimiter`. */
  readonly delimiter: string | undefined;
  /** True for cells that contain the columns that a batch needs. */
  readonly isHeader: (cells: readonly string[]) => boolean;
}

const NAMES = new Map([
  [',', ['a comma', 'commas']],
  [';', ['a semicolon', 'semicolons']],
  ['\t', ['a tab', 'tabs']],
  ['|', ['a vertical bar', 'vertical bars']],
]);

/** Excel uses the list separator of the Windows region, which is U+061B in Persian. */
const DELIMITERS = [...NAMES.keys(), '\u061b'];

/** Names a delimiter in a message, in singular and plural. */
export function delimiterInWords(delimiter: string): { readonly one: string; readonly many: string } {
  const [one = `"${delimiter}"`, many = one] = NAMES.get(delimiter) ?? [];
  return { one, many };
}

/** A line such as `sep=;`. LibreOffice puts it in quotes if it contains the delimiter, or appends its own delimiters. */
const SEP = /^"?sep=([^"\r\n]?)"?[;,\t|]*[\r\n]?$/iu;

/**
 * Finds delimiter and header. The delimiter is the option's, or that of a first line `sep=;`, as in Excel, or else the one
 * that divides the header into the columns of a batch, or into the most columns. Lines of one cell above such a header are
 * skipped: Numbers writes the table's name there.
 */
export async function layoutOf(text: AsyncIterable<string>, options: LayoutOptions): Promise<Layout> {
  const start = new TableStart(text);
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

/** Most lines above a header that may be the table's name. */
const MOST_TITLES = 5;

function isTitle(line: string, options: LayoutOptions): boolean {
  const isOneCell = (each: string) => cellsOf(line, each).filter((cell) => cell !== '').length === 1;
  return !isHeader(line, options) && possibleDelimiters(options).every(isOneCell);
}

function isHeader(line: string, options: LayoutOptions): boolean {
  return possibleDelimiters(options).some((each) => options.isHeader(cellsOf(line, each)));
}

function layout(before: string, header: string, start: TableStart, options: LayoutOptions): Layout {
  const linesBefore = before.split(/\r\n?|\n/u).length - 1;
  return { delimiter: delimiterOf(header, options), linesBefore, text: start.from(before.length) };
}

/** Returns the possible delimiters, the usual one of the table kind first. */
function possibleDelimiters({ kind, delimiter }: LayoutOptions): readonly string[] {
  if (delimiter !== undefined) return [delimiter];
  return kind === 'tsv' ? ['\t', ...DELIMITERS] : DELIMITERS;
}

function delimiterOf(header: string, options: LayoutOptions): string {
  const each = possibleDelimiters(options).map((delimiter) => ({
    delimiter,
    cells: cellsOf(header, delimiter),
  }));
  const most = Math.max(...each.map(({ cells }) => cells.length));
  const found =
    each.find(({ cells }) => options.isHeader(cells)) ?? each.find(({ cells }) => cells.length === most);
  return found?.delimiter ?? ',';
}

/** Splits a line into cells, except inside quotes. */
function cellsOf(line: string, delimiter: string): string[] {
  const cells = [''];
  let isQuoted = false;
  for (const character of line)
    if (character === '"') isQuoted = !isQuoted;
    else if (character === delimiter && !isQuoted) cells.push('');
    else cells[cells.length - 1] += character;
  return cells.map((cell) => cell.trim());
}

/** UTF-16 units at the start of a table in which the header is looked for. */
const LONGEST_START = 65_536;

/** A row of only these characters is empty; spreadsheets write such rows for formatted cells. */
const IN_EMPTY_ROWS = new Set([' ', '\r', '\n', '"', ...DELIMITERS]);

/** Reads the first lines of a table without consuming them. */
class TableStart {
  readonly #pieces: AsyncIterator<string>;
  #read = '';
  #at = 0;
  #isQuoted = false;
  #isEmpty = true;

  constructor(text: AsyncIterable<string>) {
    this.#pieces = text[Symbol.asyncIterator]();
  }

  /** Returns the next line with text, including empty lines above it. Line breaks in quotes do not end it. */
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

  /** Returns the whole text without its first `length` UTF-16 units. */
  from(length: number): AsyncGenerator<string> {
    return chained([this.#read.slice(length)], this.#pieces);
  }
}
