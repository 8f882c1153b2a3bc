import { countLineBreaks, leadingSpace, secondParagraph } from './lines.ts';
import { pack, type Room } from './pack.ts';
import { completeLength } from './sentences.ts';
import { fitting, hasAtMost, hasWord } from './unicode.ts';

/** What one request speaks. */
export interface Segment {
  /** As it stands in the input, line breaks included, but without outer white space; never empty. */
  readonly text: string;
  /** Where it starts, of several files; "-" is standard input. */
  readonly file?: string | undefined;
  /** The line of its input on which it starts, from 1; `undefined` where the text is not spoken as it stands there. */
  readonly line: number | undefined;
  readonly startsParagraph: boolean;
  /** Its place in the whole text, from 0. */
  readonly index: number;
}

export interface SegmentOptions {
  /** The longest segment in Unicode code points, at least 1; only a single grapheme cluster may be longer. */
  readonly maxChars: number;
  /**
   * - full: segments are as long as they may be
   * - ramp: sound should start at once: the first segment is one sentence, and the next ones grow
   * - sentence: each sentence is a segment, for subtitles
   * - whole: nothing is given out before the text is at its end
   */
  readonly pace: 'full' | 'ramp' | 'sentence' | 'whole';
}

/**
 * Cuts a text into segments. Nothing but white space between them is dropped, and nothing is changed.
 *
 * - A text that fits into one segment is one segment (not at pace "sentence").
 * - A longer one is cut at the best border that fits: paragraph, sentence, clause, word, grapheme cluster. No
 *   segment spans two paragraphs, and whole sentences are put together up to the limit.
 * - Borders are stable: they depend on the text of their paragraph only (at pace "ramp" also on its number).
 * - They do not depend on how the text comes in pieces.
 *
 * Memory is bounded by a window of eight segments, at least 16,384 UTF-16 units. The bound has a price in what is
 * no text: longer paragraphs are cut window by window, and a longer grapheme cluster is cut.
 */
export async function* segments(
  text: AsyncIterable<string>,
  options: SegmentOptions,
): AsyncGenerator<Segment> {
  const segmenter = new Segmenter(options);
  for await (const piece of text) yield* segmenter.push(piece);
  yield* segmenter.end();
}

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

/** A place in a text, which moves on from its start. */
class Place {
  #line = 1;
  /** Line breaks since the last character that is no white space; the start counts as two. */
  #lineBreaks = 2;

  /** The number of its line, from 1. */
  get line(): number {
    return this.#line;
  }

  /** Whether nothing or an empty line is in front of it. */
  get startsParagraph(): boolean {
    return this.#lineBreaks >= 2;
  }

  /** Moves it behind the text that follows. */
  pass(text: string): void {
    const visible = text.trimEnd();
    const lineBreaksBehind = countLineBreaks(text.slice(visible.length));
    this.#lineBreaks = visible === '' ? this.#lineBreaks + lineBreaksBehind : lineBreaksBehind;
    this.#line += countLineBreaks(text);
  }
}

/** The second segment of a text that should sound at once, in code points; each next one is twice as long. */
const FIRST_STEP = 250;

/**
 * How many code points of whole sentences go into a segment, by the number of its paragraph and its own in there;
 * never by what came before, so that an edit changes the segments of its paragraph only.
 */
const targets: Record<SegmentOptions['pace'], (paragraph: number) => Room['target']> = {
  full: () => () => Number.POSITIVE_INFINITY,
  ramp: (paragraph) => (number) => {
    const step = paragraph + number;
    return step === 0 ? 0 : FIRST_STEP * 2 ** (step - 1);
  },
  sentence: () => () => 0,
  whole: () => () => Number.POSITIVE_INFINITY,
};
