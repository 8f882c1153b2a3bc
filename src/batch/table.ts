import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { type TtsError, usageError } from '../kit/error.ts';
import { countOf, quoted, visible } from '../kit/words.ts';
import { VOICE_OPTIONS } from '../options/values.ts';
import { filledLines } from '../read/source.ts';
import { countLineBreaks } from '../text/unicode.ts';
import { delimiterInWords, layoutOf } from './layout.ts';

export const tableKinds = ['csv', 'tsv', 'jsonl', 'psv'] as const;
export type TableKind = (typeof tableKinds)[number];

export interface TableRow {
  readonly line: number;
  readonly cells: ReadonlyMap<string, string>;
  /** The delimiter of the cells, in a table with a header. */
  readonly delimiter?: string;
  /** What is wrong with this line. Other lines still count. */
  readonly fault?: string;
}

export interface TableOptions {
  readonly columns: ColumnNames;
  /** The delimiter of a table with a header; by default, found in the header. */
  readonly delimiter?: string | undefined;
}

/** UTF-16 units. After an open quote, the rest of the table must not fill the memory. */
const LONGEST_ROW = 32 * 1024 * 1024;

export function tableKindOf(name: string): TableKind | undefined {
  return tableKinds.find((kind) => name.toLowerCase().endsWith(`.${kind}`));
}

export function hasHeader(kind: TableKind): kind is 'csv' | 'tsv' {
  return kind === 'csv' || kind === 'tsv';
}

/**
 * Reads the rows of a table. CSV and TSV follow RFC 4180 with a header, and the habits of spreadsheets. JSONL has one object
 * per line. PSV has `id|text` without quotes or header; more columns are named "3", "4". Empty lines and rows are skipped.
 * @throws TtsError (usage) with the line
 */
export function readTable(
  text: AsyncIterable<string>,
  kind: TableKind,
  name: string,
  { columns, delimiter }: TableOptions = { columns: new Map() },
): AsyncGenerator<TableRow> {
  if (hasHeader(kind)) {
    const isHeader = (cells: readonly string[]) => hasColumns(cells, columns);
    return readQuoted(text, name, { kind, delimiter, isHeader });
  }
  return readLines(text, name, kind === 'jsonl' ? objectRow : pipedRow);
}

/** A line of a table, for messages. */
interface Place {
  readonly name: string;
  readonly line: number;
  readonly delimiter: string;
}

interface ParsedRecord extends ReadonlyArray<string> {
  /** The line on which it begins. */
  readonly line: number;
}

async function* readQuoted(
  text: AsyncIterable<string>,
  name: string,
  options: Parameters<typeof layoutOf>[1],
): AsyncGenerator<TableRow> {
  const { delimiter, linesBefore, text: table } = await layoutOf(text, options);
  // Counted here, as the parser reads ahead of the row that it yields.
  let nextLine = linesBefore + 1;
  const parser = parse({
    delimiter,
    on_record: (cells) => {
      const line = nextLine;
      nextLine += cells.reduce((sum, cell) => sum + countLineBreaks(cell), 1);
      return Object.assign(cells, { line });
    },
    relax_column_count: true,
    max_record_size: LONGEST_ROW,
  });
  const source = Readable.from(table);
  source.once('error', (error) => parser.destroy(error));
  let header: Header | undefined;
  try {
    for await (const record of source.pipe(parser) as AsyncIterable<ParsedRecord>) {
      const { line } = record;
      const row = header?.rowOf(record, line);
      if (row) yield row;
      if (!header && !isEmpty(record)) header = new Header(record, { name, line, delimiter });
    }
  } catch (error) {
    throw inPlainWords(error, { name, line: nextLine, delimiter });
  } finally {
    source.destroy();
  }
  if (!header) throw usageError(`${name} is empty`, 'a table begins with a line of column names');
}

/** Rows per block. Excel omits the last cells of a row if they are empty in its whole block (Microsoft KB 77295). */
const BLOCK = 16;

class Header {
  readonly #columns: readonly string[];
  readonly #delimiter: string;
  /** Rows that were read, with the header. */
  #count = 1;
  /** Cells in the first row of the block. */
  #width: number;

  /** @throws TtsError (usage) for two columns with the same name; several may have no name */
  constructor(record: readonly string[], { name, line, delimiter }: Place) {
    this.#columns = record.map((column) => column.trim());
    this.#delimiter = delimiter;
    this.#width = record.length;
    const seen = new Set<string>();
    const twice = this.#columns.find((column) => column !== '' && seen.size === seen.add(column).size);
    if (twice !== undefined)
      throw usageError(
        `${name}, line ${line}: two columns are called ${quoted(twice)}`,
        'give each column a name of its own',
      );
  }

  /** @returns `undefined` for a row of empty cells */
  rowOf(record: readonly string[], line: number): TableRow | undefined {
    if (this.#count % BLOCK === 0) this.#width = record.length;
    this.#count += 1;
    if (isEmpty(record)) return undefined;
    const delimiter = this.#delimiter;
    if (!this.#isWhole(record)) return { line, delimiter, cells: new Map(), fault: this.#faultOf(record) };
    const cells = this.#columns.map((column, at) => [column, record[at] ?? ''] as const);
    return { line, delimiter, cells: new Map(cells.filter(([column]) => column !== '')) };
  }

  #isWhole(record: readonly string[]): boolean {
    const { length } = this.#columns;
    if (record.length >= length) return isEmpty(record.slice(length));
    return record.length > 1 && record.length === this.#width;
  }

  #faultOf({ length }: readonly string[]): string {
    const { one, many } = delimiterInWords(this.#delimiter);
    return `the row has ${countOf(length, 'cell')}, separated by ${many}, and the header has ${countOf(this.#columns.length, 'column')}: a cell with ${one} in it needs quotes`;
  }
}

function isEmpty(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === '');
}

const QUOTES = 'put quotes around the whole cell, and write a quote inside it twice: "say ""hello"""';

function inPlainWords(error: unknown, { name, line, delimiter }: Place): unknown {
  const { code } = error as CsvError;
  const { many } = delimiterInWords(delimiter);
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return usageError(`${name}: a quote that opens in line ${line} is never closed`, QUOTES, error);
  if (code === 'CSV_MAX_RECORD_SIZE') return tooLong(name, line);
  if (String(code).endsWith('_QUOTE'))
    return usageError(
      `${name}, line ${line}: there is a quote in the middle of a cell (cells are separated by ${many})`,
      QUOTES,
      error,
    );
  return error;
}

async function* readLines(
  text: AsyncIterable<string>,
  name: string,
  rowOf: (content: string, line: number) => TableRow,
): AsyncGenerator<TableRow> {
  const lines = filledLines(text, LONGEST_ROW, (line) => tooLong(name, line));
  for await (const { line, content } of lines) yield rowOf(content, line);
}

const OBJECT = '{"id":"hello","text":"Hello."}';

function objectRow(content: string, line: number): TableRow {
  const wrong = (fault: string): TableRow => ({ line, cells: new Map(), fault });
  let value: unknown;
  try {
    value = JSON.parse(content);
    if (LONG_NUMBER.test(content)) value = JSON.parse(withLongNumbersQuoted(content));
  } catch {
    return wrong(`the line is not JSON; expected one object a line: ${OBJECT}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return wrong(`the line is not a JSON object; expected ${OBJECT}`);
  const entries = Object.entries(value).filter(([, cell]) => cell !== null);
  const nested = entries.find(([, cell]) => typeof cell === 'object');
  if (nested) return wrong(`${quoted(nested[0])} holds a list or an object; expected a text or a number`);
  return { line, cells: new Map(entries.map(([column, cell]) => [column, String(cell)])) };
}

/** Digits of a whole number that may be more than a number of JavaScript holds exactly, such as an id of 64 bits. */
const LONG_NUMBER = /\d{16}/;
const ESCAPE_QUOTE_NUMBER = /\\.|"|-?[\d.eE+-]+/g;

function withLongNumbersQuoted(json: string): string {
  let isInText = false;
  return json.replace(ESCAPE_QUOTE_NUMBER, (token) => {
    if (token === '"') isInText = !isInText;
    return !isInText && /^-?\d{16,}$/.test(token) ? `"${token}"` : token;
  });
}

function pipedRow(content: string, line: number): TableRow {
  const [id = '', spoken, ...more] = content.split('|');
  if (spoken === undefined)
    return { line, cells: new Map(), fault: 'there is no "|" in the line; expected id|text' };
  const further = more.map((cell, at) => [String(at + 3), cell] as const);
  return { line, cells: new Map([['id', id], ['text', spoken], ...further]) };
}

function tooLong(name: string, line: number): TtsError {
  return usageError(
    `${name}, line ${line}: the row is longer than ${LONGEST_ROW} characters`,
    'look for a quote that is not closed, and check --table',
  );
}

/** Columns named like options that set the voice of a row. */
export const VOICE_FIELDS = [...VOICE_OPTIONS, 'speed'] as const;

const fields = ['id', 'text', 'file', ...VOICE_FIELDS] as const;
export type Field = (typeof fields)[number];

/** Column names by field; a field that is missing here is in the column of its own name. */
export type ColumnNames = ReadonlyMap<Field, string>;

/** @throws TtsError (usage) */
export function parseColumns(option: string): ColumnNames {
  const names = new Map<Field, string>();
  for (const pair of option.split(',')) {
    const equals = pair.indexOf('=');
    const field = fields.find((each) => each === pair.slice(0, equals).trim());
    const column = pair.slice(equals + 1).trim();
    if (equals < 0 || field === undefined || column === '')
      throw usageError(
        `--columns: "${visible(pair)}" is not FIELD=COLUMN`,
        `the fields are ${fields.join(', ')}: --columns id=Filename,text=Text`,
      );
    if (names.has(field))
      throw usageError(`--columns: ${field} is given twice`, 'name one column for each field');
    names.set(field, column);
  }
  return names;
}

export function columnOf(field: Field, names: ColumnNames): string {
  return names.get(field) ?? field;
}

/** Adds all columns of the first row, but only relevant ones of later rows, as new columns in each could fill the memory. */
export function addColumns(seen: Set<string>, columns: Iterable<string>, names: ColumnNames): void {
  const isFirst = seen.size === 0;
  const isWanted = (column: string) =>
    [...names.values()].includes(column) || fields.some((field) => isSameWord(field, column));
  for (const column of columns) if (isFirst || (!seen.has(column) && isWanted(column))) seen.add(column);
}

interface AssertedTable {
  readonly table: string;
  /** Without a header, each row may have other columns. */
  readonly hasHeader: boolean;
  /** Columns that the template of file names uses. */
  readonly inNames: readonly string[];
  readonly delimiter?: string | undefined;
}

/**
 * @throws TtsError (usage) that lists the columns and suggests `--columns`
 */
export function assertColumns(
  columns: readonly string[],
  names: ColumnNames,
  { table, hasHeader, inNames, delimiter }: AssertedTable,
): void {
  const missing = [...names].find(([, column]) => !columns.includes(column));
  const lacks = (column: string) => noColumn(column, columns, { table, delimiter });
  if (missing) throw lacks(`"${visible(missing[1])}"`);
  if (!columns.includes(columnOf('id', names))) throw lacks('"id"');
  if (!hasColumns(columns, names)) throw lacks('"text" or "file"');
  const strange = inNames.find((column) => column !== 'id' && !columns.includes(column));
  if (strange !== undefined && hasHeader)
    throw noColumn(`"${visible(strange)}"`, columns, { table, delimiter, hint: 'correct the braces of -o' });
  const unused = columns.filter((column) => ![...names.values(), ...inNames].includes(column));
  // A column "Speaker" would be ignored, and the rows would be spoken by the wrong voice.
  for (const field of VOICE_FIELDS)
    if (!columns.includes(columnOf(field, names))) assertNoOtherCase(field, unused, table);
}

/** True if the columns include those that a batch needs. */
function hasColumns(columns: readonly string[], names: ColumnNames): boolean {
  const has = (field: Field) => columns.includes(columnOf(field, names));
  return has('id') && (has('text') || has('file'));
}

function assertNoOtherCase(field: Field, unused: readonly string[], table: string): void {
  const column = unused.find((each) => isSameWord(each, field));
  if (column === undefined) return;
  throw usageError(
    `${table}: the column "${visible(column)}" would not be used`,
    `did you mean "${field}"? Rename it, or say --columns ${field}=${visible(column)}`,
  );
}

function isSameWord(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

const MOST_SHOWN = 50;

function noColumn(
  missing: string,
  columns: readonly string[],
  { table, delimiter, hint }: Pick<AssertedTable, 'table' | 'delimiter'> & { readonly hint?: string },
) {
  const shown = columns.slice(0, MOST_SHOWN).map((column) => `"${visible(column)}"`);
  const more = columns.length - shown.length;
  const list = shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
  const separated = delimiter === undefined ? '' : `, separated by ${delimiterInWords(delimiter).many}`;
  return usageError(
    `${table} has no column ${missing}; its columns are ${list}${separated}`,
    hint ??
      (columns.length === 1 && delimiter !== undefined
        ? "if something else separates its columns, name it: --delimiter ':'; a first line with the names of the columns is needed"
        : `say which columns to use: --columns '${suggestion(columns)}'`),
  );
}

const LIKELY = {
  id: /\b(?:id|key|name|filename|file ?name|identifier)\b/i,
  text: /text|translation|sentence/i,
};

function suggestion(columns: readonly string[]): string {
  const id = columns.find((column) => LIKELY.id.test(column)) ?? columns[0] ?? 'COLUMN';
  const others = columns.filter((column) => column !== id);
  const text = others.find((column) => LIKELY.text.test(column)) ?? others[0] ?? 'COLUMN';
  return `id=${visible(id)},text=${visible(text)}`;
}
