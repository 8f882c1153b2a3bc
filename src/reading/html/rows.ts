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

  get isLong(): boolean {
    return this.#length > LONGEST_ROW;
  }

  add(block: string): void {
    if (this.#cells.length === 0) this.startCell();
    this.#cells.at(-1)?.push(block);
    this.#length += block.length;
  }

  /** @returns the row as one sentence, or its blocks if a cell holds several */
  take(): readonly string[] {
    const blocks = this.#cells.splice(0);
    const isLong = this.isLong;
    this.#length = 0;
    const isSimple = !isLong && blocks.every(({ length }) => length <= 1);
    return isSimple ? [joined(blocks.flat())].filter((text) => text !== '') : blocks.flat();
  }
}

function joined(parts: readonly string[]): string {
  return parts.reduce(
    (said, part) => (said === '' ? part : said + (endsSentence(said) ? ' ' : ', ') + part),
    '',
  );
}
