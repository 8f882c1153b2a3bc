import { completeLength } from './complete.ts';
import { countLineBreaks, leadingSpace, secondParagraph } from './lines.ts';
import { pack, type Room } from './pack.ts';
import { fitting, hasAtMost, hasWord } from './unicode.ts';

/** The text of one request. */
export interface Segment {
  /** Without outer white space; never empty. */
  readonly text: string;
  /** Of several files; "-" is stdin. */
  readonly file?: string | undefined;
  /** From 1; `undefined` where the text was changed before it is spoken. */
  readonly line: number | undefined;
  readonly startsParagraph: boolean;
  /** From 0. */
  readonly index: number;
}

export interface SegmentOptions {
  /** Code points, at least 1. Only a single grapheme cluster may be longer. */
  readonly maxChars: number;
  /**
   * full: as long as possible
   * ramp: the first is one sentence, the next ones grow, for an early sound
   * sentence: one sentence each, for subtitles
   * whole: the whole text
   */
  readonly pace: 'full' | 'ramp' | 'sentence' | 'whole';
  readonly cutsParagraphs?: boolean | undefined;
}

/**
 * Drops only white space between segments. A text that fits is one segment, except at pace "sentence" and with
 * `cutsParagraphs`; a longer one is cut at the best border: paragraph, sentence, clause, word, grapheme cluster. Its segments
 * depend on their paragraph only (at pace "ramp" also on its number), not on the pieces of the text. Memory is bounded by a
 * window of eight segments or 16,384 UTF-16 units: longer paragraphs and grapheme clusters are cut there.
 */
export async function* segments(
  text: AsyncIterable<string>,
  options: SegmentOptions,
): AsyncGenerator<Segment> {
  const segmenter = new Segmenter(options);
  for await (const piece of text) yield* segmenter.push(piece);
  yield* segmenter.end();
}

/** UTF-16 units. */
const SMALLEST_WINDOW = 16_384;
const SEGMENTS_IN_WINDOW = 8;

/** Only `flush` makes the segments depend on the pieces. */
export class Segmenter {
  readonly #options: SegmentOptions;
  readonly #window: number;
  /** The text behind the last segment. */
  #text = '';
  readonly #place = new Place();
  #paragraph = -1;
  #numberInParagraph = 0;
  #index = 0;
  /** True while the text may fit one segment. */
  #isShort: boolean;
  /** True if a part of the text has left. */
  #isAhead = false;

  constructor(options: SegmentOptions) {
    this.#options = options;
    this.#window = Math.max(SMALLEST_WINDOW, options.maxChars * SEGMENTS_IN_WINDOW);
    this.#isShort = options.pace !== 'sentence' && !options.cutsParagraphs;
  }

  get isHolding(): boolean {
    return /\S/u.test(this.#text);
  }

  /** Yields what no later piece can change. */
  *push(piece: string): Generator<Segment> {
    this.#text += piece;
    if (this.#text.length >= this.#window) yield* this.#settled();
  }

  /** @param idle milliseconds without text */
  *flush(idle: number): Generator<Segment> {
    this.#skipSpace();
    const length = completeLength(this.#text, idle);
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

  /** Without marks of a sentence that left before: many services refuse bare marks. */
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

  /** @returns the last piece, which may go on */
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

  /** Keeps a last character that may carry a mark. */
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

class Place {
  #line = 1;
  #lineBreaks = 2;

  /** From 1. */
  get line(): number {
    return this.#line;
  }

  get startsParagraph(): boolean {
    return this.#lineBreaks >= 2;
  }

  pass(text: string): void {
    const visible = text.trimEnd();
    const lineBreaksBehind = countLineBreaks(text.slice(visible.length));
    this.#lineBreaks = visible === '' ? this.#lineBreaks + lineBreaksBehind : lineBreaksBehind;
    this.#line += countLineBreaks(text);
  }
}

/** Code points at pace "ramp"; each next segment is twice as long. */
const FIRST_STEP = 250;

/** Code points, by the numbers of paragraph and place: an edit changes the segments of its paragraph only. */
const targets: Record<SegmentOptions['pace'], (paragraph: number) => Room['target']> = {
  full: () => () => Number.POSITIVE_INFINITY,
  ramp: (paragraph) => (number) => {
    const step = paragraph + number;
    return step === 0 ? 0 : FIRST_STEP * 2 ** (step - 1);
  },
  sentence: () => () => 0,
  whole: () => () => Number.POSITIVE_INFINITY,
};
