import { type Heading, type Place, placeAfter } from './piece.ts';
import { type Cleaned, countLineBreaks } from './unicode.ts';

/** All that the segmenter knows of a voice. */
export interface Limit {
  /** Code points, at least 1. Only a single grapheme cluster may be longer. */
  readonly maxChars: number;
  /** True for a part whose sound is in the cache. It answers without waiting, so it looks for the name of an entry and not inside. */
  isKept?(part: Cleaned): boolean;
}

/** The borders that a run has a silence for, from the greatest to the smallest. Where two of them meet, the greater one counts. */
const BORDERS = ['chapter', 'scene', 'heading', 'paragraph', 'sentence'] as const;
export type Border = (typeof BORDERS)[number];

export function greater(a: Border, b: Border | undefined): Border {
  return b !== undefined && BORDERS.indexOf(b) < BORDERS.indexOf(a) ? b : a;
}

/** Seconds of a mark, or the border that is crossed. */
export type Pause = number | Border | 'none';

/** The place of what stands at an offset in a text. */
export interface Anchor {
  /** UTF-16 units since the start of the text. */
  readonly at: number;
  readonly place: Place;
}

/** A stretch of the input, in code points since its start. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The text of one request. */
export interface Segment<V = Limit> {
  readonly kind: 'segment';
  /** From 0. */
  readonly index: number;
  /** It is clean, has no outer white space and is never empty. */
  readonly text: string;
  /** The same as it stands in the text. */
  readonly written: string;
  readonly place: Place;
  /** If `written` was joined from several places, these are the ones after the first. */
  readonly anchors?: readonly Anchor[] | undefined;
  readonly voice: V;
  /** It comes before the segment. */
  readonly pause: Pause;
  readonly chapter: Heading | undefined;
  /** It says where the segment stands in the input, if somebody asked for that. */
  readonly span?: Span | undefined;
}

/** Silence that no segment of its chapter follows. */
export interface Rest {
  readonly kind: 'rest';
  readonly seconds: number;
}

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
