import { cleaned, withoutInvisible } from './clean.ts';
import { clauseLength, completeLength } from './complete.ts';
import { leadingSpace, secondParagraph, unwrapped } from './lines.ts';
import type { LiveStage } from './live.ts';
import { isEarly, type Pace, type Packed, packClean, targets } from './pack.ts';
import { EMPTY_LINE, type Heading, type Piece, writtenOf } from './piece.ts';
import { Position } from './position.ts';
import { type Border, greater, type Limit, type Rest, type Segment } from './segment.ts';
import { type Judged, ShortText, windowOf } from './short-text.ts';
import { fitting, hasAtMost, hasWord } from './unicode.ts';

export interface SegmentOptions<V extends Limit = Limit> {
  /** It speaks until a piece names another one. */
  readonly voice: V;
  readonly pace: Pace;
  readonly cutsParagraphs?: boolean | undefined;
}

type Flowing = Extract<Piece, { readonly kind: 'text' | 'paragraph' }>;

/**
 * Cuts text into segments, and drops nothing but white space between them. A text that fits is one segment, except where it is
 * heard live, at pace "sentence" and with `cutsParagraphs`. A longer one is cut at the best border: paragraph, sentence, clause,
 * word, grapheme cluster. Between two pauses or voices stands a text of its own.
 * The segments of a paragraph depend on its text alone (at pace "ramp" also on its number). Only `flush` changes that.
 * Memory is bounded: paragraphs and grapheme clusters longer than eight segments or 16,384 UTF-16 units are cut there.
 */
export class Segmenter<V extends Limit = Limit> implements LiveStage<Piece<V>, Segment<V> | Rest> {
  readonly #options: SegmentOptions<V>;
  readonly #mayBeShort: boolean;
  readonly #short: ShortText<V>;
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
  /** False if the text begins inside a sentence. */
  #startsSentence = true;
  /** What was read of the silence before the next segment, besides the border of a paragraph. */
  #pause: number | Border | undefined;
  #chapter: Heading | undefined;
  /** A chapter that has no segment yet. */
  #opening: (Omit<Heading, 'number'> & Partial<Heading>) | undefined;

  constructor(options: SegmentOptions<V>) {
    this.#options = options;
    this.#voice = options.voice;
    this.#mayBeShort = (options.pace === 'full' || options.pace === 'whole') && !options.cutsParagraphs;
    this.#isShort = this.#mayBeShort;
    this.#short = new ShortText(() => this.#voice, this.#mayBeShort);
  }

  get isHolding(): boolean {
    return /\S/u.test(this.#text) || this.#short.isHolding;
  }

  /** Yields what no later piece can change. */
  *push(piece: Piece<V>): Generator<Segment<V> | Rest> {
    if (piece.kind === 'voice' && piece.voice !== this.#voice) {
      yield* this.#endText();
      this.#voice = piece.voice;
    } else if (piece.kind === 'pause') {
      yield* this.#endText();
      this.#pause = piece.seconds + (typeof this.#pause === 'number' ? this.#pause : 0);
    } else if (piece.kind !== 'voice') yield* this.#take(this.#short.push(piece));
  }

  *flush(idle: number, held = 0): Generator<Segment<V> | Rest> {
    yield* this.#take(this.#short.judge(false));
    this.#skipSpace();
    const isUnspoken = this.#index === 0 && isEarly(this.#options.pace);
    const length =
      completeLength(this.#text, idle) || (isUnspoken ? clauseLength(this.#text, idle, held) : 0);
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
    yield* this.#take(this.#short.judge(true));
    // Marks of a sentence that left before are left out: many services refuse bare marks.
    if (!this.#isAhead || hasWord(this.#text)) yield* this.#giveAll();
    this.#text = '';
    yield* this.#rest();
  }

  *#add(piece: Flowing): Generator<Segment<V>> {
    const text = writtenOf(piece);
    this.#position.add(text, piece.kind === 'text' ? piece.place : undefined);
    this.#text += text;
    if (this.#text.length >= windowOf(this.#voice)) yield* this.#settled();
  }

  *#take(all: Iterable<Judged<V>>): Generator<Segment<V> | Rest> {
    for (const { piece, isInShort } of all)
      if (piece.kind === 'text' || piece.kind === 'paragraph') yield* this.#add(piece);
      else yield* this.#cross(piece, isInShort);
  }

  /** What comes next is cut as a text of its own. */
  *#endText(): Generator<Segment<V> | Rest> {
    yield* this.#take(this.#short.end(this.#mayBeShort));
    yield* this.#endPart();
    this.#isShort = this.#mayBeShort;
  }

  /** What comes next belongs to another segment. */
  *#endPart(): Generator<Segment<V>> {
    if (hasWord(this.#text)) yield* this.#giveAll();
    this.#consume(this.#text);
    this.#isAhead = true;
    this.#startsSentence = true;
  }

  *#cross(border: Exclude<Judged<V>['piece'], Flowing>, isInShort: boolean): Generator<Segment<V> | Rest> {
    this.#isShort &&= isInShort;
    yield* this.#endPart();
    if (border.kind === 'chapter') {
      yield* this.#rest();
      const { kind: _, ...opening } = border;
      this.#opening = opening;
    }
    if (typeof this.#pause !== 'number') this.#pause = greater(border.kind, this.#pause);
    this.#position.add(EMPTY_LINE);
    this.#position.pass(EMPTY_LINE);
  }

  /** A pause that no segment of its chapter follows. */
  *#rest(): Generator<Rest> {
    if (typeof this.#pause === 'number') yield { kind: 'rest', seconds: this.#pause };
    this.#pause = undefined;
  }

  /** Each pass takes something away: a view that is one piece, or in which nothing is heard, is taken whole. */
  *#settled(): Generator<Segment<V>> {
    for (this.#skipSpace(); this.#isKnownLong(); this.#skipSpace()) {
      const { length } = this.#text;
      const view = fitting(this.#text, windowOf(this.#voice));
      const paragraph = secondParagraph(view);
      if (paragraph !== undefined) yield* this.#give(view.slice(0, paragraph));
      else if (length < windowOf(this.#voice)) return;
      else yield* this.#giveAllButLast(view);
      if (this.#text.length === length) yield* this.#giveOpen(view);
    }
  }

  #isKnownLong(): boolean {
    const { length } = this.#text;
    this.#isShort &&= length < windowOf(this.#voice) && this.#fits(this.#text);
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
    this.#startsSentence = true;
  }

  /** The last piece may go on. */
  *#giveAllButLast(text: string): Generator<Segment<V>> {
    let held: Packed = { written: '', text: '', startsSentence: this.#startsSentence };
    for (const piece of this.#pack(text)) {
      yield* this.#one(held);
      held = piece;
    }
    this.#startsSentence = held.startsSentence;
  }

  /** Its last sentence goes on. */
  *#giveOpen(text: string): Generator<Segment<V>> {
    yield* this.#whole(text);
    this.#startsSentence = false;
  }

  #pack(text: string): readonly Packed[] {
    this.#countParagraph();
    const { maxChars } = this.#voice;
    const target = targets[this.#options.pace](this.#paragraph);
    const start = { number: this.#numberInParagraph, startsSentence: this.#startsSentence };
    return packClean(text, start, { max: maxChars, target }, this.#voice);
  }

  #countParagraph(): void {
    if (!this.#position.startsParagraph) return;
    this.#paragraph += 1;
    this.#numberInParagraph = 0;
  }

  *#whole(written: string): Generator<Segment<V>> {
    const text = cleaned(unwrapped(withoutInvisible(written), this.#options.pace === 'whole'));
    yield* this.#one({ written, text, startsSentence: this.#startsSentence });
  }

  *#one(piece: Packed): Generator<Segment<V>> {
    const space = leadingSpace(piece.written) ?? piece.written.length;
    this.#consume(piece.written.slice(0, space));
    const written = piece.written.slice(space).trimEnd();
    const text = piece.text.slice(leadingSpace(piece.text)).trimEnd();
    const at = this.#position.over(written.length);
    this.#consume(piece.written.slice(space));
    if (text !== '') yield this.#segment({ ...piece, written, text }, at);
  }

  #segment({ written, text, startsSentence }: Packed, at: ReturnType<Position['over']>): Segment<V> {
    const border = this.#numberInParagraph === 0 ? 'paragraph' : startsSentence ? 'sentence' : 'none';
    const pause = this.#pause ?? border;
    if (this.#opening) this.#chapter = { number: (this.#chapter?.number ?? 0) + 1, ...this.#opening };
    const [index, voice, chapter] = [this.#index, this.#voice, this.#chapter];
    this.#pause = undefined;
    this.#opening = undefined;
    this.#index += 1;
    this.#numberInParagraph += 1;
    return { kind: 'segment', index, written, text, ...at, voice, pause, chapter };
  }

  /** Keeps a last character that may carry a mark. */
  #skipSpace(): void {
    const { length } = this.#text;
    const space = leadingSpace(this.#text) ?? (length < windowOf(this.#voice) ? 0 : length - 1);
    this.#consume(this.#text.slice(0, space));
  }

  #consume(start: string): void {
    this.#position.pass(start);
    this.#text = this.#text.slice(start.length);
  }
}
