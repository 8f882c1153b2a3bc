import { fitting, hasAtMost } from './code-points.ts';
import { hasWord } from './has-word.ts';
import { pack, type Room } from './pack.ts';
import { leadingSpace, secondParagraph } from './paragraphs.ts';
import { Place } from './place.ts';
import type { Segment, SegmentOptions } from './segment.ts';
import { completeLength } from './sentences.ts';
import { targets } from './target.ts';

/** A paragraph longer than this is cut a window at a time, in UTF-16 units. */
const SMALLEST_WINDOW = 16_384;
/** With this many segments in a window, holding back the last one costs little. */
const SEGMENTS_IN_WINDOW = 8;

/**
 * Cuts text that comes in pieces. Without `flush`, the segments are a function of the whole text, not of its
 * pieces; `flush` gives out early what else would wait for its paragraph to end.
 */
export class Segmenter {
  readonly #options: SegmentOptions;
  readonly #window: number;
  /** What is not yet given out; it starts where the last segment ended. */
  #text = '';
  /** Where in the input that is. */
  readonly #place = new Place();
  #paragraph = -1;
  #numberInParagraph = 0;
  #index = 0;
  /** A short text is one segment: nothing is given out before the text is known not to be short. */
  #isShort: boolean;
  /** Something was given out before its paragraph was at its end. */
  #isAhead = false;

  constructor(options: SegmentOptions) {
    this.#options = options;
    this.#window = Math.max(SMALLEST_WINDOW, options.maxChars * SEGMENTS_IN_WINDOW);
    this.#isShort = options.pace !== 'sentence';
  }

  /** Whether there is something to say that is not yet given out. */
  get isHolding(): boolean {
    return /\S/u.test(this.#text);
  }

  /** Takes a piece of any size, and gives out what no later piece can change. */
  *push(piece: string): Generator<Segment> {
    this.#text += piece;
    if (this.#text.length >= this.#window) yield* this.#settled();
  }

  /**
   * Gives out the sentences that are complete, as far as can be told by now, and of one that is not what fills segments.
   * @param isQuiet nothing more is coming for now, so that a full stop at the very end ends a sentence
   */
  *flush(isQuiet: boolean): Generator<Segment> {
    this.#skipSpace();
    const length = completeLength(this.#text, isQuiet);
    const rest = this.#text.slice(length);
    const isFull = hasWord(rest) && !this.#fits(rest);
    if (length === 0 && !isFull) return;
    this.#isShort = false;
    this.#isAhead = true;
    this.#text = this.#text.slice(0, length);
    yield* this.#settled();
    if (length > 0) yield* this.#give(this.#text);
    this.#text = rest;
    if (isFull) yield* this.#giveAllButLast(rest);
  }

  /** Gives out all that is left, but for marks whose sentence is given out already: by themselves many services refuse them. */
  *end(): Generator<Segment> {
    if (this.#isAhead && !hasWord(this.#text)) return;
    yield* this.#settled();
    if (this.#isShort) yield* this.#one(this.#text);
    else yield* this.#give(this.#text);
    this.#text = '';
  }

  *#settled(): Generator<Segment> {
    for (this.#skipSpace(); this.#isKnownLong(); this.#skipSpace()) {
      const view = fitting(this.#text, this.#window);
      const paragraph = secondParagraph(view);
      if (paragraph !== undefined) yield* this.#give(view.slice(0, paragraph));
      else if (this.#text.length < this.#window) return;
      else if ((yield* this.#giveAllButLast(view)) === view) yield* this.#one(view);
    }
  }

  #isKnownLong(): boolean {
    const { length } = this.#text;
    this.#isShort &&= length < this.#window && this.#fits(this.#text);
    return !this.#isShort && length > 0;
  }

  #fits(text: string): boolean {
    return hasAtMost(text.trimEnd(), this.#options.maxChars);
  }

  *#give(text: string): Generator<Segment> {
    for (const piece of this.#pack(text)) yield* this.#one(piece);
  }

  /** @returns the last piece, which may go on behind the text */
  *#giveAllButLast(text: string): Generator<Segment, string> {
    let held = '';
    for (const piece of this.#pack(text)) {
      yield* this.#one(held);
      held = piece;
    }
    return held;
  }

  #pack(text: string): Generator<string> {
    if (this.#place.startsParagraph) {
      this.#paragraph += 1;
      this.#numberInParagraph = 0;
    }
    const room: Room = { max: this.#options.maxChars, target: targets[this.#options.pace](this.#paragraph) };
    return pack(text, this.#numberInParagraph, room);
  }

  *#one(piece: string): Generator<Segment> {
    const space = leadingSpace(piece) ?? piece.length;
    this.#consume(piece.slice(0, space));
    const text = piece.slice(space).trimEnd();
    const segment = {
      text,
      line: this.#place.line,
      startsParagraph: this.#numberInParagraph === 0,
      index: this.#index,
    };
    this.#consume(piece.slice(space));
    if (text === '') return;
    this.#index += 1;
    this.#numberInParagraph += 1;
    yield segment;
  }

  /** White space of any length is dropped as it comes, but for a last character that may carry a mark. */
  #skipSpace(): void {
    const { length } = this.#text;
    const space = leadingSpace(this.#text) ?? (length < this.#window ? 0 : length - 1);
    this.#consume(this.#text.slice(0, space));
  }

  #consume(start: string): void {
    this.#place.pass(start);
    this.#text = this.#text.slice(start.length);
  }
}
