import { posix } from 'node:path';
import { ExitCode, TtsError, usageError } from '../error.ts';
import { quoted, visible } from '../printable.ts';
import type { EncodingName } from '../sink/encoding/names.ts';
import { assertEncodable } from '../sink/encodings.ts';
import type { VoiceShape } from '../voices/voice.ts';
import { addColumns, assertColumns, type ColumnNames, columnOf, type Field } from './columns.ts';
import { NumberList, RecordFile } from './record-file.ts';
import { dealShard, orderOf, type Shard } from './shard.ts';
import type { TableRow } from './table.ts';
import { NameError, type NameTemplate } from './template.ts';

export interface BatchRow {
  readonly id: string;
  readonly table: string;
  /** Lines count from 1. */
  readonly line: number;
  /** It may be blank, and is `undefined` for a row with a file. */
  readonly text?: string | undefined;
  readonly textFile?: string | undefined;
  readonly voice: VoiceShape;
  readonly namesSpeaker?: boolean;
  /** It is relative to the fixed folder of the template, with "/". */
  readonly file: string;
}

const VOICE_FIELDS = ['speaker', 'sampleRate', 'instructions', 'speed'] as const;
export type VoiceCells = Partial<Readonly<Record<(typeof VOICE_FIELDS)[number], string>>>;

export interface PlanOptions {
  readonly columns: ColumnNames;
  readonly template: NameTemplate;
  readonly shard: Shard | undefined;
  /** The value of `--encode`. */
  readonly encode?: EncodingName | undefined;
  /**
   * @param where as in `prompts.csv, line 12, column speaker`
   * @throws TtsError (usage)
   */
  readonly voiceOf: (cells: VoiceCells, where: (field: Field) => string) => Promise<VoiceShape>;
  /** @throws TtsError (usage) */
  readonly textFileOf: (cell: string, table: string) => string;
}

export interface NamedTable {
  readonly name: string;
  /** Without a header, each row has columns of its own. */
  readonly hasHeader: boolean;
  readonly rows: AsyncIterable<TableRow>;
}

const MOST_SHOWN = 10;

/** A column may be the ending. */
const MOST_ENDINGS = 100;

/** Holds the checked rows of all tables on disk. */
export class BatchPlan implements Disposable {
  readonly rows = new RecordFile<BatchRow>(
    ({ id }) => `id ${caseFolded(id)}`,
    ({ file }) => `file ${caseFolded(file)}`,
  );
  /** They are filled for a shard only. */
  readonly #orders = new NumberList();
  readonly #endings = new Set<string>();
  readonly #options: PlanOptions;
  readonly #names: string;
  readonly #faults: string[] = [];
  #faultCount = 0;
  /** The hint of the first fault that has one. */
  #advice: string | undefined;
  #isMine: (order: number) => boolean = () => true;

  private constructor(names: string, options: PlanOptions) {
    this.#names = names;
    this.#options = options;
  }

  /** @throws TtsError (usage) with the first ten errors and the number of the others */
  static async read(tables: readonly NamedTable[], options: PlanOptions): Promise<BatchPlan> {
    const plan = new BatchPlan(tables.map(({ name }) => name).join(', '), options);
    try {
      for (const table of tables) await plan.#readTable(table);
      plan.#assertFaultless('nothing was sent: correct the table and run the same command again');
      if (plan.rows.count === 0)
        throw usageError(`${plan.#names}: there is no row`, 'add a row with an id and a text');
      if (options.shard) plan.#isMine = dealShard(plan.#orders, options.shard);
      return plan;
    } catch (error) {
      plan[Symbol.dispose]();
      throw error;
    }
  }

  *mine(): Generator<number> {
    for (let number = 0; number < this.rows.count; number += 1)
      if (this.#isMine(this.#orders.at(number))) yield number;
  }

  assertSpeakers(numbers: Iterable<number>, isKnown: (speaker: number) => boolean): void {
    for (const number of numbers) {
      const { table, line, voice, namesSpeaker } = this.rows.at(number);
      if (isKnown(voice.speaker)) continue;
      const column = namesSpeaker ? columnOf('speaker', this.#options.columns) : undefined;
      this.#addFault(new RowFault(`the service has no speaker ${voice.speaker}`, column), table, line);
    }
    this.#assertFaultless('nothing was sent: tts speakers lists those that there are');
  }

  /** True if a file of this name could be a row's: it ends as one of them does, and is not hidden. */
  couldHave(file: string): boolean {
    return this.#endings.has(endingOf(file)) && !file.split('/').some((part) => part.startsWith('.'));
  }

  /** Rows of all shards count. */
  hasFile(file: string): boolean {
    return this.rows.find(1, `file ${caseFolded(file)}`) !== undefined;
  }

  *textFiles(): Generator<string> {
    for (let number = 0; number < this.rows.count; number += 1) {
      const { textFile } = this.rows.at(number);
      if (textFile !== undefined) yield textFile;
    }
  }

  [Symbol.dispose](): void {
    this.rows[Symbol.dispose]();
  }

  async #readTable({ name, hasHeader, rows }: NamedTable): Promise<void> {
    const { columns, template } = this.#options;
    const seen = new Set<string>();
    const assertSeen = () => assertColumns([...seen], columns, { table: name, inNames: template.columns });
    for await (const row of rows) {
      const isFirst = seen.size === 0;
      if (isFirst || !hasHeader) addColumns(seen, row.cells.keys(), columns);
      if (isFirst && hasHeader && !row.fault) assertSeen();
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
    const { columns, template, voiceOf, textFileOf } = this.#options;
    const cell = (field: Field) => cells.get(columnOf(field, columns));
    const where = (field: Field) => `${table}, line ${line}, column ${columnOf(field, columns)}`;
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
      voice: await voiceOf(voiceCells(cell), where),
      ...(cell('speaker')?.trim() && { namesSpeaker: true }),
      file: template.nameOf((column) => cells.get(column) ?? (column === 'id' ? id : undefined)),
    };
    assertEncodable(row.file, this.#options.encode);
    this.#assertNew(row);
    if (this.#endings.size < MOST_ENDINGS) this.#endings.add(endingOf(row.file));
    this.rows.add(row);
    if (this.#options.shard) this.#orders.push(orderOf(id));
  }

  #assertNew({ id, file }: BatchRow): void {
    const sameId = this.rows.find(0, `id ${caseFolded(id)}`);
    if (sameId !== undefined)
      throw new RowFault(
        `the id ${quoted(id)} is taken by ${this.#placeOf(sameId)}`,
        columnOf('id', this.#options.columns),
      );
    const sameFile = this.rows.find(1, `file ${caseFolded(file)}`);
    if (sameFile !== undefined)
      throw new RowFault(`the file ${visible(file)} is also that of ${this.#placeOf(sameFile)}`);
  }

  #placeOf(number: number): string {
    const { table, line } = this.rows.at(number);
    return `${table}, line ${line}`;
  }

  #addFault(error: unknown, table: string, line: number): void {
    if (!isOfTheRow(error)) throw error;
    this.#faultCount += 1;
    if (error instanceof TtsError) this.#advice ??= error.hint;
    if (this.#faults.length === MOST_SHOWN) return;
    const column = error instanceof RowFault || error instanceof NameError ? error.column : undefined;
    const place = `${table}, line ${line}${column === undefined ? '' : `, column ${column}`}`;
    this.#faults.push(error.message.startsWith(place) ? error.message : `${place}: ${error.message}`);
  }

  #assertFaultless(remedy: string): void {
    const [only = ''] = this.#faults;
    if (this.#faultCount === 0) return;
    const hint = this.#advice === undefined ? remedy : `${this.#advice}; ${remedy}`;
    if (this.#faultCount === 1) throw usageError(only, hint);
    const moreCount = this.#faultCount - this.#faults.length;
    throw new TtsError(`${this.#names}: ${this.#faultCount} rows are wrong`, {
      exitCode: ExitCode.usage,
      hint,
      details: [...this.#faults, ...(moreCount > 0 ? [`and ${moreCount} more`] : [])],
    });
  }
}

/** Failures such as a full disk and Ctrl-C end the run, not one row. */
const OF_THE_RUN: readonly number[] = [
  ExitCode.output,
  ExitCode.hangup,
  ExitCode.interrupted,
  ExitCode.terminated,
];

function isOfTheRow(error: unknown): error is RowFault | NameError | TtsError {
  if (error instanceof TtsError) return !OF_THE_RUN.includes(error.exitCode);
  return error instanceof RowFault || error instanceof NameError;
}

class RowFault extends Error {
  readonly column: string | undefined;

  constructor(message: string, column?: string) {
    super(message);
    this.column = column;
  }
}

function voiceCells(cell: (field: Field) => string | undefined): VoiceCells {
  const said = VOICE_FIELDS.map((field) => [field, cell(field)]).filter(([, text]) => text?.trim());
  return Object.fromEntries(said);
}

function endingOf(file: string): string {
  return posix.extname(file).toLowerCase();
}

/** Names that some file systems confuse become equal. */
export function caseFolded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
