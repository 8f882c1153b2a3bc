import { endsSentence, SIGHT, withFullStop } from '../sentence-end.ts';

/** UTF-16 units; longer titles are not repeated. */
const LONGEST_LABEL = 100;

/** "Name: Ada, Age: 36." */
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

  /** @returns titles that are too long to be repeated */
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

  end(): string {
    return this.#isSaid ? '' : sentenceOf(this.#labels);
  }
}

function sentenceOf(parts: readonly string[]): string {
  const said: string[] = [];
  // Searching the whole row for each cell would be quadratic.
  let end = '';
  for (const part of parts) {
    if (part === '') continue;
    if (end !== '') said.push(endsSentence(end) ? ' ' : ', ');
    said.push(part);
    end = (end + part).slice(-SIGHT);
  }
  return withFullStop(said.join(''));
}
