import { type Cleaned, cleaned } from './clean.ts';
import { completeLength } from './complete.ts';
import { leadingSpace, secondParagraph, unwrapped } from './lines.ts';
import type { LiveStage } from './live.ts';
import { type Pace, packClean, targets } from './pack.ts';
import { EMPTY_LINE, type Heading, type Piece, type Place, writtenOf } from './piece.ts';
import { Position } from './position.ts';
import type { Limit, Rest, Segment } from './segment.ts';
import { fitting, hasAtMost, hasWord } from './unicode.ts';

export interface SegmentOptions<V extends Limit = Limit> {
  /** It speaks until a piece names another one. */
  readonly voice: V;
  readonly pace: Pace;
  readonly cutsParagraphs?: boolean | undefined;
}

/** UTF-16 units. */
const SMALLEST_WINDOW = 16_384;
const SEGMENTS_IN_WINDOW = 8;

/**
 * Drops only white space between segments. A text that fits is one segment, except at pace "sentence" and with
 * `cutsParagraphs`; a longer one is cut at the best border: paragraph, sentence, clause, word, grapheme cluster. Its segments
 * depend on their paragraph only (at pace "ramp" also on its number), not on the pieces of the text; only `flush` changes
 * that. Chapters, pauses and other voices end a segment. Memory is bounded by a window of eight segments or 16,384 UTF-16
 * units: longer paragraphs and grapheme clusters are cut there.
 */
export class Segmenter<V extends Limit = Limit> implements LiveStage<Piece<V>, Segment<V> | Rest> {
  readonly #options: SegmentOptions<V>;
  #voice: V;
  /** The text after the last segment. */
  #text = '';
  readonly #position = new Position();
  #paragraph = -1;
  #numberInParagraph = 0;
  #index = 0;
  /** True while the text may fit one segment. */
  #isShort: boolean;
  /** True if a part of the text has left. */
  #isAhead = false;
  /** What was read of the silence before the next segment, besides the border of a paragraph. */
  #pause: number | 'chapter' | undefined;
  #chapter: Heading | undefined;
  /** A chapter that has no segment yet. */
  #opening: Omit<Heading, 'number'> | undefined;

  constructor(options: SegmentOptions<V>) {
    this.#options = options;
    this.#voice = options.voice;
    this.#isShort = options.pace !== 'sentence' && !options.cutsParagraphs;
  }

  get isHolding(): boolean {
    return /\S/u.test(this.#text);
  }

  /** Yields what no later piece can change. */
  *push(piece: Piece<V>): Generator<Segment<V> | Rest> {
    switch (piece.kind) {
      case 'text':
      case 'paragraph':
        return yield* this.#add(piece);
      case 'pause':
        yield* this.#endPart();
        this.#pause = piece.seconds + (typeof this.#pause === 'number' ? this.#pause : 0);
        return;
      case 'voice':
        if (piece.voice !== this.#voice) yield* this.#endPart();
        this.#voice = piece.voice;
        return;
      case 'chapter':
        yield* this.#endPart();
        yield* this.#rest();
        this.#open(piece);
    }
  }

  /** @param idle milliseconds without text */
  *flush(idle: number): Generator<Segment<V>> {
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

  *end(): Generator<Segment<V> | Rest> {
    // Marks of a sentence that left before are left out: many services refuse bare marks.
    if (!this.#isAhead || hasWord(this.#text)) yield* this.#giveAll();
    this.#text = '';
    yield* this.#rest();
  }

  *#add(piece: Extract<Piece, { kind: 'text' | 'paragraph' }>): Generator<Segment<V>> {
    const text = writtenOf(piece);
    this.#position.add(text, piece.kind === 'text' ? piece.place : undefined);
    this.#text += text;
    if (this.#text.length >= this.#window) yield* this.#settled();
  }

  /** What comes next belongs to another segment. */
  *#endPart(): Generator<Segment<V>> {
    if (hasWord(this.#text)) yield* this.#giveAll();
    this.#consume(this.#text);
    this.#isAhead = true;
  }

  #open({ title, level }: Omit<Heading, 'number'>): void {
    this.#opening = { title, level };
    this.#pause = 'chapter';
    this.#position.add(EMPTY_LINE);
    this.#position.pass(EMPTY_LINE);
  }

  /** A pause that no segment of its chapter follows. */
  *#rest(): Generator<Rest> {
    if (typeof this.#pause === 'number') yield { kind: 'rest', seconds: this.#pause };
    this.#pause = undefined;
  }

  get #window(): number {
    return Math.max(SMALLEST_WINDOW, this.#voice.maxChars * SEGMENTS_IN_WINDOW);
  }

  *#settled(): Generator<Segment<V>> {
    for (this.#skipSpace(); this.#isKnownLong(); this.#skipSpace()) {
      const view = fitting(this.#text, this.#window);
      const paragraph = secondParagraph(view);
      if (paragraph !== undefined) yield* this.#give(view.slice(0, paragraph));
      else if (this.#text.length < this.#window) return;
      else if ((yield* this.#giveAllButLast(view)) === view) yield* this.#whole(view);
    }
  }

  #isKnownLong(): boolean {
    const { length } = this.#text;
    this.#isShort &&= length < this.#window && this.#fits(this.#text);
    return !this.#isShort && length > 0;
  }

  #fits(text: string): boolean {
    const { maxChars } = this.#voice;
    const visible = text.trimEnd();
    return hasAtMost(visible, maxChars) || hasAtMost(cleaned(visible), maxChars);
  }

  *#giveAll(): Generator<Segment<V>> {
    yield* this.#settled();
    if (!this.#isShort) return yield* this.#give(this.#text);
    this.#countParagraph();
    yield* this.#whole(this.#text);
  }

  *#give(text: string): Generator<Segment<V>> {
    for (const piece of this.#pack(text)) yield* this.#one(piece);
  }

  /** @returns the last piece, which may go on */
  *#giveAllButLast(text: string): Generator<Segment<V>, string> {
    let held: Cleaned = { written: '', text: '' };
    for (const piece of this.#pack(text)) {
      yield* this.#one(held);
      held = piece;
    }
    return held.written;
  }

  #pack(text: string): readonly Cleaned[] {
    this.#countParagraph();
    const { maxChars } = this.#voice;
    const target = targets[this.#options.pace](this.#paragraph);
    return packClean(text, this.#numberInParagraph, { max: maxChars, target }, this.#voice);
  }

  #countParagraph(): void {
    if (!this.#position.startsParagraph) return;
    this.#paragraph += 1;
    this.#numberInParagraph = 0;
  }

  *#whole(text: string): Generator<Segment<V>> {
    yield* this.#one({ written: text, text: cleaned(unwrapped(text, this.#options.pace === 'whole')) });
  }

  *#one(piece: Cleaned): Generator<Segment<V>> {
    const space = leadingSpace(piece.written) ?? piece.written.length;
    this.#consume(piece.written.slice(0, space));
    const written = piece.written.slice(space).trimEnd();
    const text = piece.text.slice(leadingSpace(piece.text)).trimEnd();
    const { place } = this.#position;
    this.#consume(piece.written.slice(space));
    if (text !== '') yield this.#segment({ written, text }, place);
  }

  #segment(what: Cleaned, place: Place): Segment<V> {
    const border = this.#numberInParagraph === 0 ? 'paragraph' : 'none';
    const pause = this.#pause ?? border;
    if (this.#opening) this.#chapter = { number: (this.#chapter?.number ?? 0) + 1, ...this.#opening };
    const [index, voice, chapter] = [this.#index, this.#voice, this.#chapter];
    this.#pause = undefined;
    this.#opening = undefined;
    this.#index += 1;
    this.#numberInParagraph += 1;
    return { kind: 'segment', index, ...what, place, voice, pause, chapter };
  }

  /** Keeps a last character that may carry a mark. */
  #skipSpace(): void {
    const { length } = this.#text;
    const space = leadingSpace(this.#text) ?? (length < this.#window ? 0 : length - 1);
    this.#consume(this.#text.slice(0, space));
  }

  #consume(start: string): void {
    this.#position.pass(start);
    this.#text = this.#text.slice(start.length);
  }
}

/** The texts of the segments of a text without marks. */
export function* cutText(text: string, voice: Limit): Generator<string> {
  const segmenter = new Segmenter({ voice, pace: 'full' });
  const place = { source: '' };
  for (const segments of [segmenter.push({ kind: 'text', text, place }), segmenter.end()])
    for (const each of segments) if (each.kind === 'segment') yield each.text;
}
