/** The lowest heading that begins a chapter, unless the first one is lower. */
const LOWEST_CHAPTER = 2;

/** Follows the headings of a text: which begin chapters, and which are the title of one. */
export class Titles {
  readonly #areSpoken: boolean;
  #lowest: number | undefined;
  /** The words of the title that were not read yet; `undefined` after the title. */
  #left: string | undefined;

  constructor(areSpoken: boolean) {
    this.#areSpoken = areSpoken;
  }

  /** A text whose first heading is a small one has chapters of that size. */
  isChapter(level: number): boolean {
    this.#lowest ??= Math.max(LOWEST_CHAPTER, level);
    return level <= this.#lowest;
  }

  /** It is called where a chapter begins. */
  start(title: string | undefined): void {
    this.#left = wordsOf(title ?? '');
  }

  /** It is called for each block in turn. @returns false for a title that is left out */
  speaks(block: string, isHeading: boolean): boolean {
    if (this.#areSpoken || this.#left === undefined) return true;
    const words = wordsOf(block);
    const isTitle = isHeading || (words !== '' && ` ${this.#left} `.includes(` ${words} `));
    if (isTitle) this.#left = ` ${this.#left} `.replace(` ${words} `, ' ').trim();
    else this.#left = undefined;
    return !isTitle;
  }
}

function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}
