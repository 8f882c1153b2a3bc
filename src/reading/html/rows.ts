import { endsSentence } from '../sentence-end.ts';

/** UTF-16 units. A row with more text is read cell by cell. */
const LONGEST_ROW = 2000;

/** One row of a table, while it is read. */
export class Row {
  /** Each cell has blocks. */
  readonly #cells: string[][] = [];
  #length = 0;

  startCell(): void {
    this.#cells.push([]);
  }

  /** True for a row that takes nothing more. */
  get isLong(): boolean {
    return this.#length > LONGEST_ROW;
  }

  /** @returns all blocks so far if the row has become a long one */
  add(block: string): readonly string[] {
    if (this.#cells.length === 0) this.startCell();
    this.#cells.at(-1)?.push(block);
    this.#length += block.length;
    return this.isLong ? this.giveUp() : [];
  }

  /** @returns all blocks so far; those that follow are no part of the row */
  giveUp(): readonly string[] {
    this.#length = Number.POSITIVE_INFINITY;
    return this.#cells.splice(0).flat();
  }

  /** @returns the row as one sentence, or its blocks if a cell holds several */
  take(): readonly string[] {
    const blocks = this.#cells.splice(0);
    const isSimple = blocks.every(({ length }) => length <= 1);
    return isSimple ? [joined(blocks.flat())].filter((text) => text !== '') : blocks.flat();
  }
}

function joined(parts: readonly string[]): string {
  return parts.reduce(
    (said, part) => (said === '' ? part : said + (endsSentence(said) ? ' ' : ', ') + part),
    '',
  );
}
