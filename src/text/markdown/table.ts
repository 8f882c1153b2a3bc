import { endsSentence, withFullStop } from './sentence-end.ts';

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
    const titles = this.#row.map((title) => title.replace(/\s*[:.]$/u, ''));
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
  let sentence = '';
  for (const part of parts) {
    if (part === '') continue;
    if (sentence !== '') sentence += endsSentence(sentence) ? ' ' : ', ';
    sentence += part;
  }
  return withFullStop(sentence);
}
