import { widthOf } from './width.ts';

/** Rows of cells as lines, each column as wide as its widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widest = (column: number) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), 0);
  const widths = (rows[0] ?? []).map((_, column) => widest(column));
  const padded = (cell: string, column: number) =>
    cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
  return rows.map((row) => row.map(padded).join('  ').trimEnd()).join('\n');
}
