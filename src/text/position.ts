import { countLineBreaks } from './lines.ts';
import { type Place, placeAfter } from './piece.ts';
import type { Anchor, Segment } from './segment.ts';

/** Follows a text: the place of what comes next, and whether a paragraph starts there. */
export class Position {
  #place: Place = { source: '' };
  #lineBreaks = 2;
  #passed = 0;
  #added = 0;
  /** The place after all that was added. */
  #end: Place | undefined;
  readonly #anchors: Anchor[] = [];

  get place(): Place {
    return this.#place;
  }

  get startsParagraph(): boolean {
    return this.#lineBreaks >= 2;
  }

  /** @param place undefined for text that has none: it counts on */
  add(text: string, place = this.#end): void {
    if (place && !isSame(place, this.#end)) this.#anchors.push({ at: this.#added, place });
    this.#added += text.length;
    this.#end = place && placeAfter(place, text);
    this.#turn(0);
  }

  /** @returns the place of the next text, which has this length in UTF-16 units, and those that begin inside it */
  over(length: number): Pick<Segment, 'place' | 'anchors'> {
    const anchors: Anchor[] = [];
    for (const { at, place } of this.#anchors) {
      const inside = at - this.#passed;
      if (inside >= length) break;
      if (inside > 0) anchors.push({ at: inside, place });
    }
    return { place: this.#place, ...(anchors.length > 0 && { anchors }) };
  }

  /** @param text the beginning of what was added and is not passed yet */
  pass(text: string): void {
    if (text === '') return;
    const visible = text.trimEnd();
    const breaksAtEnd = countLineBreaks(text.slice(visible.length));
    this.#lineBreaks = visible === '' ? this.#lineBreaks + breaksAtEnd : breaksAtEnd;
    const rest = text.slice(this.#turn(text.length));
    this.#passed += rest.length;
    this.#place = placeAfter(this.#place, rest);
  }

  /**
   * Goes to the last place that begins in the next text.
   * @param length UTF-16 units of that text
   * @returns UTF-16 units that were passed
   */
  #turn(length: number): number {
    const start = this.#passed;
    for (let next = this.#anchors[0]; next && next.at <= start + length; next = this.#anchors[0]) {
      this.#passed = next.at;
      this.#place = next.place;
      this.#anchors.shift();
    }
    return this.#passed - start;
  }
}

function isSame(place: Place, other: Place | undefined): boolean {
  return place.source === other?.source && place.line === other.line && place.column === other.column;
}
