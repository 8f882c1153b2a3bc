import type { Host } from '../kit/host.ts';

export interface Paint {
  problem(text: string): string;
  hint(text: string): string;
}

export const plain: Paint = { problem: (text) => text, hint: (text) => text };

/** Colours a terminal, unless NO_COLOR is set (https://no-color.org). */
export async function paintFor({ env, stderr }: Pick<Host, 'env' | 'stderr'>): Promise<Paint> {
  if (!stderr.isTTY || env.NO_COLOR || env.TERM === 'dumb') return plain;
  const { Chalk } = await import('chalk');
  // Without a level, chalk would inspect the environment itself.
  const chalk = new Chalk({ level: 1 });
  return { problem: chalk.red.bold, hint: chalk.dim };
}

/** The width in cells of a terminal. */
export function widthOf(text: string): number {
  return Array.from(text, cellsOf).reduce((sum, cells) => sum + cells, 0);
}

/** Everything from U+2300 on counts as wide: a line is cut early rather than wrapped. */
export function cellsOf(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  return point >= 0x2300 || (point >= 0x1100 && point < 0x1160) ? 2 : 1;
}

export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Writes a count as `2,130`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Writes a price as `$0.30`, `0.30 EUR` or `0.30`. One that is too small for two decimals gets four. */
export function priceInWords({
  price,
  currency = '',
}: {
  readonly price: number;
  readonly currency?: string;
}): string {
  const amount = price.toFixed(price > 0 && price < SMALLEST_SHOWN ? 4 : 2);
  return /\p{L}/u.test(currency) ? `${amount} ${currency}` : `${currency}${amount}`;
}

/** Less would be rounded to nothing. */
const SMALLEST_SHOWN = 0.005;

const GAP = 2;

/** The columns of a terminal that a table goes to; a pipe takes lines of any length, each with one row. */
export function columnsOf({ stdout }: Pick<Host, 'stdout'>): number | undefined {
  return stdout.isTTY ? stdout.columns || USUAL_COLUMNS : undefined;
}

const USUAL_COLUMNS = 80;
/** Fewer would hold hardly a word. */
const NARROWEST = 8;

/** @param columns what a row may take: the widest cells go on below, broken between words */
export function table(rows: readonly (readonly string[])[], columns?: number): string {
  const widths = widthsOf(rows);
  const all = widths.reduce((sum, width) => sum + width + GAP, -GAP);
  if (columns === undefined || all <= columns) return aligned(rows, widths);
  const widest = widths.indexOf(Math.max(...widths));
  const width = Math.max(NARROWEST, (widths[widest] ?? 0) - (all - columns));
  const broken = rows.flatMap((row) => {
    const [first = '', ...more] = brokenAt(row[widest] ?? '', width);
    const below = more.map((part) => row.map((_, column) => (column === widest ? part : '')));
    return [row.map((cell, column) => (column === widest ? first : cell)), ...below];
  });
  return aligned(broken, widthsOf(broken));
}

/** Lines of at most this width. A word that is longer stays whole. */
export function brokenAt(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widest = (column: number) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), 0);
  return (rows[0] ?? []).map((_, column) => widest(column));
}

function aligned(rows: readonly (readonly string[])[], widths: readonly number[]): string {
  const padded = (cell: string, column: number) =>
    cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
  return rows.map((row) => row.map(padded).join(' '.repeat(GAP)).trimEnd()).join('\n');
}
