import { type Place, placeAfter } from './piece.ts';
import { countLineBreaks } from './unicode.ts';

/** Tracks a text as it is consumed: the place of the next character, and whether a paragraph starts there. */
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

  /** @param place `undefined` for text without a place of its own, which continues the text before it */
  add(text: string, place = this.#end): void {
    if (place && !isSamePlace(place, this.#end)) this.#anchors.push({ at: this.#added, place });
    this.#added += text.length;
    this.#end = place && placeAfter(place, text);
    this.#moveToAnchor(0);
  }

  /** @param text the first of the text that was added and not passed yet */
  pass(text: string): void {
    if (text === '') return;
    const visible = text.trimEnd();
    const breaksAtEnd = countLineBreaks(text.slice(visible.length));
    this.#lineBreaks = visible === '' ? this.#lineBreaks + breaksAtEnd : breaksAtEnd;
    const rest = text.slice(this.#moveToAnchor(text.length));
    this.#passed += rest.length;
    this.#place = placeAfter(this.#place, rest);
  }

  /**
   * Moves to the last anchor within the next text.
   * @param length UTF-16 units of that text
   * @returns UTF-16 units that were passed
   */
  #moveToAnchor(length: number): number {
    const start = this.#passed;
    for (let next = this.#anchors[0]; next && next.at <= start + length; next = this.#anchors[0]) {
      this.#passed = next.at;
      this.#place = next.place;
      this.#anchors.shift();
    }
    return this.#passed - start;
  }
}

/** The place of added text that does not continue the text before it. */
interface Anchor {
  /** UTF-16 units added before it. */
  readonly at: number;
  readonly place: Place;
}

function isSamePlace(place: Place, other: Place | undefined): boolean {
  return (
    place.source === other?.source &&
    place.line === other.line &&
    place.column === other.column &&
    place.document === other.document
  );
}
