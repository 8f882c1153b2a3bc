import { printable } from '../../printable.ts';
import { costOf, type Pricing } from '../../speech/job.ts';
import type { Heading } from '../../text/piece.ts';
import type { Estimate } from '../estimate.ts';
import { duration } from '../terminal/progress-line.ts';
import { priceInWords } from '../terminal/style.ts';

interface ChapterCost {
  readonly number: number;
  readonly title: string | null;
  readonly level: number;
  readonly characters: number;
  /** Seconds of sound, with its pauses. */
  readonly duration: number;
  readonly price?: number;
  readonly currency?: string;
}

/** What each chapter adds to the estimate of a run. */
export class ChapterCosts {
  readonly #estimate: Estimate;
  readonly #pricing: Pricing | undefined;
  readonly #ended: ChapterCost[] = [];
  #heading: Heading | undefined;
  #characters = 0;
  #duration = 0;
  #paid = 0;

  constructor(estimate: Estimate, pricing: Pricing | undefined) {
    this.#estimate = estimate;
    this.#pricing = pricing;
  }

  /** It is called before a segment is added to the estimate, and with `undefined` at the end. */
  enter(heading: Heading | undefined): void {
    if (heading === this.#heading) return;
    const { characters, duration } = this.#estimate.result;
    const { paidCharacters } = this.#estimate;
    if (this.#heading) {
      const { number, title = null, level } = this.#heading;
      const cost = this.#pricing && costOf(paidCharacters - this.#paid, this.#pricing);
      this.#ended.push({
        number,
        title,
        level,
        characters: characters - this.#characters,
        duration: Math.max(0, Math.round(10 * (duration - this.#duration)) / 10),
        ...cost,
      });
    }
    this.#heading = heading;
    this.#characters = characters;
    this.#duration = duration;
    this.#paid = paidCharacters;
  }

  get list(): readonly ChapterCost[] {
    return this.#ended;
  }
}

/** A line for each chapter, in columns. */
export function chapterLines(chapters: readonly ChapterCost[]): readonly string[] {
  const rows = chapters.map((chapter) => ({
    number: String(chapter.number),
    characters: String(chapter.characters),
    length: duration(chapter.duration),
    rest: [
      ...(chapter.price === undefined
        ? []
        : [priceInWords({ price: chapter.price, ...(chapter.currency && { currency: chapter.currency }) })]),
      '  '.repeat(chapter.level - 1) + printable(chapter.title ?? '(no title)'),
    ].join('  '),
  }));
  const width = (field: 'number' | 'characters' | 'length') =>
    Math.max(0, ...rows.map((row) => row[field].length));
  const [numbers, characters, lengths] = [width('number'), width('characters'), width('length')];
  return rows.map((row) =>
    [
      row.number.padStart(numbers),
      row.characters.padStart(characters),
      row.length.padStart(lengths),
      row.rest,
    ].join('  '),
  );
}
