/** Rows of cells as lines, each column as wide as its widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widest = (column: number) => rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0);
  const widths = (rows[0] ?? []).map((_, column) => widest(column));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
