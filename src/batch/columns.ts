import { usageError } from '../error.ts';
import { visible } from '../printable.ts';

const fields = ['id', 'text', 'file', 'speaker', 'sampleRate', 'instructions', 'speed'] as const;
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

/** Without them, a row would be spoken by another voice than its table says. */
const OF_VOICES: readonly Field[] = ['speaker', 'sampleRate', 'instructions', 'speed'];

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
  for (const field of OF_VOICES) if (!has(field)) assertNoOtherCase(field, unused, table);
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
