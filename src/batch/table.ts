import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { type TtsError, usageError } from '../kit/error.ts';
import { quoted, visible } from '../kit/words.ts';
import { VOICE_OPTIONS } from '../options/values.ts';

export const tableKinds = ['csv', 'tsv', 'jsonl', 'psv'] as const;
export type TableKind = (typeof tableKinds)[number];

export interface TableRow {
  readonly line: number;
  readonly cells: ReadonlyMap<string, string>;
  /** The fault of one line. The other lines still count. */
  readonly fault?: string;
}

/** UTF-16 units: an open quote must not take the rest of the table into memory. */
const LONGEST_ROW = 32 * 1024 * 1024;

export function tableKindOf(name: string): TableKind | undefined {
  return tableKinds.find((kind) => name.toLowerCase().endsWith(`.${kind}`));
}

/**
 * CSV and TSV follow RFC 4180 with a header. JSONL has one object a line. PSV has `id|text` without quotes and header,
 * further columns "3", "4". Empty lines are skipped.
 * @throws TtsError (usage) with the line
 */
export function readTable(
  text: AsyncIterable<string>,
  kind: TableKind,
  name: string,
): AsyncGenerator<TableRow> {
  if (kind === 'jsonl') return readObjects(text, name);
  if (kind === 'psv') return readPipes(text, name);
  return readQuoted(text, kind === 'csv' ? ',' : '\t', name);
}

interface ParsedRecord {
  readonly info: { readonly lines: number };
  readonly record: readonly string[];
}

async function* readQuoted(
  text: AsyncIterable<string>,
  delimiter: string,
  name: string,
): AsyncGenerator<TableRow> {
  // The parser reads ahead of the row that it gives.
  let lastLine = 0;
  const parser = parse({
    delimiter,
    on_record: (record, { lines }) => {
      lastLine = lines;
      return record;
    },
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_ROW,
  });
  const source = Readable.from(text);
  source.once('error', (error) => parser.destroy(error));
  let header: readonly string[] | undefined;
  try {
    for await (const { info, record } of source.pipe(parser) as AsyncIterable<ParsedRecord>) {
      const line = info.lines - lineBreaks(record);
      if (header) yield rowOf(header, record, line);
      else header = checkHeader(record, name);
    }
  } catch (error) {
    throw inPlainWords(error, { name, start: lastLine + 1 });
  } finally {
    source.destroy();
  }
  if (!header) throw usageError(`${name} is empty`, 'a table begins with a line of column names');
}

function lineBreaks(record: readonly string[]): number {
  return record.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0);
}

function checkHeader(record: readonly string[], name: string): readonly string[] {
  const columns = record.map((column) => column.trim());
  const seen = new Set<string>();
  const twice = columns.find((column) => seen.size === seen.add(column).size);
  if (twice !== undefined)
    throw usageError(
      `${name}, line 1: two columns are called ${quoted(twice)}`,
      'give each column a name of its own',
    );
  return columns;
}

function rowOf(columns: readonly string[], record: readonly string[], line: number): TableRow {
  if (record.length === columns.length)
    return { line, cells: new Map(columns.map((column, at) => [column, record[at] ?? ''])) };
  const fault = `the row has ${record.length} cells, and the header has ${columns.length} columns: a cell with the delimiter in it needs quotes`;
  return { line, cells: new Map(), fault };
}

const QUOTES = 'put quotes around the whole cell, and write a quote inside it twice: "say ""hello"""';

function inPlainWords(error: unknown, { name, start }: { name: string; start: number }): unknown {
  const { code, lines } = error as CsvError & { readonly lines?: number };
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return usageError(`${name}: a quote that opens in line ${start} is never closed`, QUOTES, error);
  if (code === 'CSV_MAX_RECORD_SIZE') return tooLong(name, start);
  if (String(code).endsWith('_QUOTE'))
    return usageError(`${name}, line ${lines}: there is a quote in the middle of a cell`, QUOTES, error);
  return error;
}

async function* readObjects(text: AsyncIterable<string>, name: string): AsyncGenerator<TableRow> {
  for await (const { line, content } of linesOf(text, name)) yield objectRow(content, line);
}

const OBJECT = '{"id":"hello","text":"Hello."}';

function objectRow(content: string, line: number): TableRow {
  const wrong = (fault: string): TableRow => ({ line, cells: new Map(), fault });
  let value: unknown;
  try {
    value = JSON.parse(content);
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

async function* readPipes(text: AsyncIterable<string>, name: string): AsyncGenerator<TableRow> {
  for await (const { line, content } of linesOf(text, name)) {
    const [id = '', spoken, ...more] = content.split('|');
    const further = more.map((cell, at) => [String(at + 3), cell] as const);
    if (spoken === undefined)
      yield { line, cells: new Map(), fault: 'there is no "|" in the line; expected id|text' };
    else yield { line, cells: new Map([['id', id], ['text', spoken], ...further]) };
  }
}

interface Line {
  /** Lines count from 1. */
  readonly line: number;
  readonly content: string;
}

async function* linesOf(text: AsyncIterable<string>, name: string): AsyncGenerator<Line> {
  let pieces: string[] = [];
  let length = 0;
  let line = 1;
  for await (const piece of text) {
    const [first = '', ...rest] = piece.split('\n');
    pieces.push(first);
    length += first.length;
    if (length > LONGEST_ROW) throw tooLong(name, line);
    for (const next of rest) {
      const content = pieces.join('');
      if (content.trim() !== '') yield { line, content };
      line += 1;
      pieces = [next];
      length = next.length;
    }
  }
  const content = pieces.join('');
  if (content.trim() !== '') yield { line, content };
}

function tooLong(name: string, line: number): TtsError {
  return usageError(
    `${name}, line ${line}: the row is longer than ${LONGEST_ROW} characters`,
    'look for a quote that is not closed, and check --table',
  );
}

/** Columns with the same names as options, for the voice of each row. */
export const VOICE_FIELDS = [...VOICE_OPTIONS, 'speed'] as const;

const fields = ['id', 'text', 'file', ...VOICE_FIELDS] as const;
export type Field = (typeof fields)[number];

/** Other fields are in the column of their own name. */
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

/** Adds all columns of the first row, and of others only those that are looked for: a new one in each row would fill the memory. */
export function addColumns(seen: Set<string>, columns: Iterable<string>, names: ColumnNames): void {
  const isFirst = seen.size === 0;
  const isWanted = (column: string) =>
    [...names.values()].includes(column) || fields.some((field) => isSameWord(field, column));
  for (const column of columns) if (isFirst || (!seen.has(column) && isWanted(column))) seen.add(column);
}

/**
 * @param inNames columns that the template of the names uses
 * @throws TtsError (usage) that lists the columns and suggests `--columns`
 */
export function assertColumns(
  columns: readonly string[],
  names: ColumnNames,
  { table, inNames }: { readonly table: string; readonly inNames: readonly string[] },
): void {
  const has = (field: Field) => columns.includes(columnOf(field, names));
  const missing = [...names].find(([, column]) => !columns.includes(column));
  if (missing) throw noColumn(`"${visible(missing[1])}"`, columns, table);
  if (!has('id')) throw noColumn('"id"', columns, table);
  if (!has('text') && !has('file')) throw noColumn('"text" or "file"', columns, table);
  const unused = columns.filter((column) => ![...names.values(), ...inNames].includes(column));
  // Without it, a row would be spoken by another voice than its table says.
  for (const field of VOICE_FIELDS) if (!has(field)) assertNoOtherCase(field, unused, table);
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

function noColumn(missing: string, columns: readonly string[], table: string) {
  const shown = columns.slice(0, MOST_SHOWN).map((column) => `"${visible(column)}"`);
  const more = columns.length - shown.length;
  const list = shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
  const isUnsplit = columns.length === 1 && /[;|,\t]/.test(columns[0] ?? '');
  return usageError(
    `${table} has no column ${missing}; its columns are ${list}`,
    isUnsplit
      ? 'a CSV has commas between its columns, a TSV has tabs: save it as one of them, and say --table tsv for tabs'
      : `say which columns to use: --columns '${suggestion(columns)}'`,
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
