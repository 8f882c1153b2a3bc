import { type Place, placeAfter } from './piece.ts';
import { countLineBreaks } from './unicode.ts';

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

/** Text that was added from another place. */
interface Anchor {
  /** UTF-16 units that were added before it. */
  readonly at: number;
  readonly place: Place;
}

function isSame(place: Place, other: Place | undefined): boolean {
  return (
    place.source === other?.source &&
    place.line === other.line &&
    place.column === other.column &&
    place.document === other.document
  );
}
