import { hash } from 'node:crypto';
import { posix } from 'node:path';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import { quoted, visible, withMore } from '../kit/words.ts';
import type { EncodingName } from '../sound/encode/encoding.ts';
import { assertEncodable } from '../sound/encode/encodings.ts';
import type { Speaker } from '../sound/voice.ts';
import {
  addColumns,
  assertColumns,
  type ColumnNames,
  columnOf,
  type Field,
  type TableRow,
  VOICE_FIELDS,
} from './table.ts';

export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

const MOST_SHARDS = 100_000;

/** @throws TtsError (usage), also for empty text: with an unset variable, each job would make the whole table */
export function parseShard(option: string): Shard {
  const [, index, count] = /^(\d{1,6})\/(\d{1,6})$/.exec(option.trim()) ?? [];
  const shard = { index: Number(index), count: Number(count) };
  if (shard.index >= 1 && shard.index <= shard.count && shard.count <= MOST_SHARDS) return shard;
  throw usageError(
    `--shard: "${visible(option)}" is not i/n`,
    'give the number of this job, from 1, and how many there are: --shard 3/8; is a variable empty?',
  );
}

/**
 * Deals rows to shards in the order of a hash of their ids: shards differ by one row at most, and do not depend on the
 * machine or the order of the table.
 * @returns the rows of the shard, in the order of the table
 */
export function dealShard<T extends { readonly id: string }>(
  rows: readonly T[],
  { index, count }: Shard,
): readonly T[] {
  const byHash = rows.map((row) => ({ row, hash: hash('sha256', row.id) }));
  byHash.sort((one, other) => (one.hash < other.hash ? -1 : 1));
  const mine = new Set(byHash.filter((_, rank) => rank % count === index - 1).map(({ row }) => row));
  return rows.filter((row) => mine.has(row));
}

/** Bytes of a file name, by NAME_MAX of Linux and macOS, and NTFS. */
const LONGEST_NAME = 255;

/** Names that Windows reserves for devices, with any extension. */
export const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:[.:]|$)/i;

/** Characters that Windows forbids in file names. */
const FORBIDDEN = /[<>:"|?*]/;

/** Characters of a value to replace: slashes, as a value must not make a folder, and those that Windows forbids. */
const NOT_IN_NAMES = /[/\\:*?"<>|]/g;

type Piece = { readonly literal: string } | { readonly column: string };

/** A template of file names, such as `prompts/{id}.wav`. */
export class NameTemplate {
  readonly #pieces: readonly Piece[];
  /** The folder before the first column: `prompts`, or `.`. */
  readonly fixedFolder: string;
  readonly columns: readonly string[];
  /** Values with characters that were replaced: their number, and the first. */
  readonly changed: { count: number; first: readonly [value: string, name: string] | undefined } = {
    count: 0,
    first: undefined,
  };

  /** @throws TtsError (usage) */
  constructor(template: string) {
    this.#pieces = parsePieces(template);
    this.columns = this.#pieces.flatMap((piece) => ('column' in piece ? [piece.column] : []));
    const [first] = this.#pieces;
    const start = first && 'literal' in first ? first.literal : '';
    this.fixedFolder = this.columns.length === 0 ? posix.dirname(start) : folderOf(start);
    if (/[/\\]$/.test(template) || template === '' || template === '-')
      throw usageError(
        `-o ${template}: a batch writes one file for each row`,
        "give a template of names: -o 'prompts/{id}.wav'",
      );
  }

  /**
   * Makes a file name relative to the fixed folder, with "/".
   * @throws RowFault
   */
  nameOf(cell: (column: string) => string | undefined): string {
    const name = this.#pieces
      .map((piece) => ('literal' in piece ? piece.literal : this.#part(piece.column, cell(piece.column))))
      .join('');
    const relative =
      this.fixedFolder === '.' ? name : name.slice(this.fixedFolder.length).replace(/^\/+/, '');
    assertSafe(relative);
    return posix.normalize(relative);
  }

  #part(column: string, cell: string | undefined): string {
    const value = checkedValue(column, cell);
    const name = value.replace(NOT_IN_NAMES, '_');
    if (name === value) return value;
    this.changed.count += 1;
    this.changed.first ??= [value, name];
    return name;
  }
}

/** An error in one row, without its place. */
class RowFault extends Error {
  readonly column: string | undefined;

  constructor(message: string, column?: string) {
    super(message);
    this.column = column;
  }
}

function parsePieces(template: string): Piece[] {
  return template
    .split(/(\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part): Piece => {
      if (/^\{.+\}$/.test(part)) return { column: part.slice(1, -1).trim() };
      if (!/[{}]/.test(part)) return { literal: part };
      throw usageError(
        `-o ${template}: a brace is not closed or holds no column`,
        "write the name of a column in braces: -o '{id}.wav'",
      );
    });
}

function folderOf(start: string): string {
  const slash = start.lastIndexOf('/');
  if (slash === 0) return '/';
  return slash < 0 ? '.' : start.slice(0, slash).replace(/\/+$/, '');
}

function checkedValue(column: string, value: string | undefined): string {
  if (value === undefined) throw new RowFault('the row has no such value', column);
  if (value.trim() === '')
    throw new RowFault('the value is empty, but the name of the file needs it', column);
  const shown = `"${visible(value.slice(0, 80))}"`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this looks for control characters
  if (/[\0-\x1f\x7f]/.test(value)) throw new RowFault(`${shown} holds a control character`, column);
  if (/\p{Cs}/u.test(value)) throw new RowFault(`${shown} holds half a character`, column);
  if (/^(?:[/\\]|[a-z]:[/\\])/i.test(value)) throw new RowFault(`${shown} is an absolute name`, column);
  if (value.split(/[/\\]/).some((part) => part === '..' || part === '.'))
    throw new RowFault(`${shown} leads to another folder`, column);
  return value;
}

/** Checks the complete name: harmless values may together become `con`, or too long. */
function assertSafe(name: string): void {
  for (const part of name.split(/[/\\]/)) {
    const shown = `"${visible(part.slice(0, 80))}"`;
    if (RESERVED.test(part)) throw new RowFault(`${shown} is a name that Windows keeps for a device`);
    if (part === '..') throw new RowFault(`${shown} leads to another folder`);
    if (FORBIDDEN.test(part)) throw new RowFault(`${shown} holds a character that Windows forbids in names`);
    if (part !== '.' && /[. ]$/.test(part))
      throw new RowFault(`${shown} ends with a dot or a space, which Windows drops`);
    if (Buffer.byteLength(part) > LONGEST_NAME)
      throw new RowFault(`${shown}… is too long for the name of a file`);
  }
}

export interface BatchRow {
  readonly id: string;
  readonly table: string;
  /** From 1. */
  readonly line: number;
  /** The text, which may be blank; `undefined` for a row with a text file. */
  readonly text?: string | undefined;
  readonly textFile?: string | undefined;
  readonly speaker: Speaker;
  readonly namesSpeaker?: boolean;
  /** Relative to the fixed folder of the template, with "/". */
  readonly file: string;
}

export type VoiceCells = Partial<Readonly<Record<(typeof VOICE_FIELDS)[number], string>>>;

export interface PlanOptions {
  readonly columns: ColumnNames;
  readonly template: NameTemplate;
  readonly shard: Shard | undefined;
  readonly encode?: EncodingName | undefined;
  /**
   * @param where returns the place of a field, such as `prompts.csv, line 12, column speaker`
   * @throws TtsError (usage)
   */
  readonly speakerOf: (cells: VoiceCells, where: (field: Field) => string) => Promise<Speaker>;
  /** @throws TtsError (usage) */
  readonly textFileOf: (cell: string, table: string) => string;
}

export interface NamedTable {
  readonly name: string;
  /** Without a header, each row may have other columns. */
  readonly hasHeader: boolean;
  readonly rows: AsyncIterable<TableRow>;
}

const MOST_SHOWN = 10;

/** Most extensions to remember: one may come from a column. */
const MOST_ENDINGS = 100;

/** The rows of all tables, checked before anything is sent. */
export class BatchPlan {
  readonly rows: BatchRow[] = [];
  /** The rows of this shard, in the order of the tables. */
  mine: readonly BatchRow[] = this.rows;
  readonly #byId = new Map<string, BatchRow>();
  readonly #byFile = new Map<string, BatchRow>();
  readonly #endings = new Set<string>();
  readonly #options: PlanOptions;
  readonly #names: string;
  readonly #faults: string[] = [];
  #faultCount = 0;
  /** The hint of the first fault with a hint. */
  #advice: string | undefined;

  private constructor(names: string, options: PlanOptions) {
    this.#names = names;
    this.#options = options;
  }

  /** @throws TtsError (usage) with the first ten faults and the number of the others */
  static async read(tables: readonly NamedTable[], options: PlanOptions): Promise<BatchPlan> {
    const plan = new BatchPlan(tables.map(({ name }) => name).join(', '), options);
    for (const table of tables) await plan.#readTable(table);
    plan.#assertFaultless('nothing was sent: correct the table and run the same command again');
    if (plan.rows.length === 0)
      throw usageError(`${plan.#names}: there is no row`, 'add a row with an id and a text');
    if (options.shard) plan.mine = dealShard(plan.rows, options.shard);
    return plan;
  }

  assertSpeakers(rows: Iterable<BatchRow>, isKnown: (speaker: number) => boolean): void {
    for (const { table, line, speaker, namesSpeaker } of rows) {
      const { no } = speaker.voice;
      if (isKnown(no)) continue;
      const column = namesSpeaker ? columnOf('speaker', this.#options.columns) : undefined;
      this.#addFault(new RowFault(`the service has no speaker ${no}`, column), table, line);
    }
    this.#assertFaultless('nothing was sent: tts speakers lists those that there are');
  }

  /** True if a row's file could have this name: its extension is that of a row, and it is not hidden. */
  couldHave(file: string): boolean {
    return this.#endings.has(endingOf(file)) && !file.split('/').some((part) => part.startsWith('.'));
  }

  /** True if a row of any shard makes this file. */
  hasFile(file: string): boolean {
    return this.#byFile.has(caseFolded(file));
  }

  async #readTable({ name, hasHeader, rows }: NamedTable): Promise<void> {
    const { columns, template } = this.#options;
    const seen = new Set<string>();
    const assertSeen = (delimiter?: string) =>
      assertColumns([...seen], columns, { table: name, hasHeader, inNames: template.columns, delimiter });
    for await (const row of rows) {
      const isFirst = seen.size === 0;
      if (isFirst || !hasHeader) addColumns(seen, row.cells.keys(), columns);
      if (isFirst && hasHeader && !row.fault) assertSeen(row.delimiter);
      try {
        if (row.fault) throw new RowFault(row.fault);
        await this.#addRow(row, name);
      } catch (error) {
        this.#addFault(error, name, row.line);
      }
    }
    if (!hasHeader && seen.size > 0) assertSeen();
  }

  async #addRow({ line, cells }: TableRow, table: string): Promise<void> {
    const { columns, template, speakerOf, textFileOf } = this.#options;
    const cell = (field: Field) => cells.get(columnOf(field, columns));
    const where = (field: Field) => `${placeOf({ table, line })}, column ${columnOf(field, columns)}`;
    const id = cell('id') ?? '';
    if (id.trim() === '') throw new RowFault('the row has no id', columnOf('id', columns));
    const [text, textFile] = [cell('text'), cell('file')];
    if (text?.trim() && textFile?.trim())
      throw new RowFault('the row has a text and a file; give only one of them', columnOf('file', columns));
    const row: BatchRow = {
      id,
      table,
      line,
      ...(textFile?.trim()
        ? { textFile: textFileOf(textFile, table) }
        : { text: (text ?? '').replaceAll('\r\n', '\n') }),
      speaker: await speakerOf(voiceCells(cell), where),
      ...(cell('speaker')?.trim() && { namesSpeaker: true }),
      file: template.nameOf((column) => cells.get(column) ?? (column === 'id' ? id : undefined)),
    };
    const { sampleRate } = row.speaker.fields;
    assertEncodable(row.file, { encode: this.#options.encode, sampleRate });
    this.#addNew(row);
    if (this.#endings.size < MOST_ENDINGS) this.#endings.add(endingOf(row.file));
  }

  #addNew(row: BatchRow): void {
    const [id, file] = [caseFolded(row.id), caseFolded(row.file)];
    const sameId = this.#byId.get(id);
    if (sameId)
      throw new RowFault(
        `the id ${quoted(row.id)} is taken by ${placeOf(sameId)}`,
        columnOf('id', this.#options.columns),
      );
    const sameFile = this.#byFile.get(file);
    if (sameFile)
      throw usageError(
        `${placeOf(row)}: the file ${visible(row.file)} is also that of ${placeOf(sameFile)}`,
        "-o needs a column that differs from row to row, such as 'prompts/{id}.wav'",
      );
    this.#byId.set(id, row);
    this.#byFile.set(file, row);
    this.rows.push(row);
  }

  #addFault(error: unknown, table: string, line: number): void {
    if (!isOfTheRow(error)) throw error;
    this.#faultCount += 1;
    if (error instanceof TtsError) this.#advice ??= error.hint;
    if (this.#faults.length === MOST_SHOWN) return;
    const column = error instanceof RowFault ? error.column : undefined;
    const place = placeOf({ table, line }) + (column === undefined ? '' : `, column ${column}`);
    this.#faults.push(error.message.startsWith(place) ? error.message : `${place}: ${error.message}`);
  }

  #assertFaultless(remedy: string): void {
    const [only = ''] = this.#faults;
    if (this.#faultCount === 0) return;
    const hint = this.#advice === undefined ? remedy : `${this.#advice}; ${remedy}`;
    if (this.#faultCount === 1) throw usageError(only, hint);
    throw new TtsError(`${this.#names}: ${this.#faultCount} rows are wrong`, {
      exitCode: ExitCode.usage,
      hint,
      details: withMore(this.#faults, this.#faultCount),
    });
  }
}

/** False for errors that concern the whole run, such as an engine that cannot be reached, a full disk and Ctrl-C. */
function isOfTheRow(error: unknown): error is RowFault | TtsError {
  return error instanceof RowFault || (error instanceof TtsError && error.exitCode === ExitCode.usage);
}

export function placeOf({ table, line }: Pick<BatchRow, 'table' | 'line'>): string {
  return `${table}, line ${line}`;
}

function voiceCells(cell: (field: Field) => string | undefined): VoiceCells {
  const cells = VOICE_FIELDS.map((field) => [field, cell(field)] as const)
    .filter(([, text]) => text?.trim())
    .map(([field, text = '']) => [field, field === 'speed' ? withPoint(text) : text]);
  return Object.fromEntries(cells);
}

/** Replaces a decimal comma, as in spreadsheets of many countries. A speed has no thousands, so 1,5 is unambiguous. */
function withPoint(text: string): string {
  return text.replace(/^(\s*\d),(\d)/, '$1.$2');
}

function endingOf(file: string): string {
  return posix.extname(file).toLowerCase();
}

/** Makes names equal that some file systems do not distinguish. */
export function caseFolded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
