import type { Host } from '../../host.ts';

/** Marks words for the eye. */
export interface Paint {
  problem(text: string): string;
  hint(text: string): string;
}

/** Words as they are. */
export const plain: Paint = { problem: (text) => text, hint: (text) => text };

/** Colours, where stderr shows them to somebody who did not say no (https://no-color.org). */
export async function paintFor({ env, stderr }: Pick<Host, 'env' | 'stderr'>): Promise<Paint> {
  if (!stderr.isTTY || env.NO_COLOR || env.TERM === 'dumb') return plain;
  const { Chalk } = await import('chalk');
  // The level is given, since chalk would look at the process itself.
  const chalk = new Chalk({ level: 1 });
  return { problem: chalk.red.bold, hint: chalk.dim };
}

/** Cells that a text takes in a terminal. */
export function widthOf(text: string): number {
  return Array.from(text, cellsOf).reduce((sum, cells) => sum + cells, 0);
}

/** Of one code point. Hangul and everything from the symbols on (U+2300) counts as wide: better cut too early than wrapped. */
export function cellsOf(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  return point >= 0x2300 || (point >= 0x1100 && point < 0x1160) ? 2 : 1;
}

/** Rows of cells as lines, each column as wide as its widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widest = (column: number) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), 0);
  const widths = (rows[0] ?? []).map((_, column) => widest(column));
  const padded = (cell: string, column: number) =>
    cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
  return rows.map((row) => row.map(padded).join('  ').trimEnd()).join('\n');
}
