import { endsSentence, SIGHT, withFullStop } from './inline.ts';

/** A longer title of a column is not said again in each row, in UTF-16 units. */
const LONGEST_LABEL = 100;

/** Takes a table cell by cell and says it row by row: "Name: Ada, Age: 36." */
export class TableReader {
  #labels: readonly string[] = [];
  #row: string[] = [];
  #isSaid = false;

  startRow(): void {
    this.#row = [];
  }

  cell(text: string): void {
    this.#row.push(text);
  }

  /** @returns what is to be said once: nothing, unless the titles are too long to lead each cell */
  endHead(): string {
    const titles = this.#row.map((title) => (/[:.]$/u.test(title) ? title.slice(0, -1).trimEnd() : title));
    if (titles.every((title) => title.length <= LONGEST_LABEL)) this.#labels = titles;
    else this.#isSaid = true;
    return this.#isSaid ? sentenceOf(this.#row) : '';
  }

  endRow(): string {
    this.#isSaid = true;
    return sentenceOf(
      this.#row.map((cell, column) => {
        const label = this.#labels[column];
        return cell !== '' && label ? `${label}: ${cell}` : cell;
      }),
    );
  }

  /** @returns the titles of a table without rows */
  end(): string {
    return this.#isSaid ? '' : sentenceOf(this.#labels);
  }
}

function sentenceOf(parts: readonly string[]): string {
  const said: string[] = [];
  // What a row ends with so far: all of it would be gone through again for each cell.
  let end = '';
  for (const part of parts) {
    if (part === '') continue;
    if (end !== '') said.push(endsSentence(end) ? ' ' : ', ');
    said.push(part);
    end = (end + part).slice(-SIGHT);
  }
  return withFullStop(said.join(''));
}
