import { clauseLength, completeLength } from './complete.ts';
import { secondParagraph, unwrapped } from './lines.ts';
import { type Packed, pack } from './pack.ts';
import { type CueTime, EMPTY_LINE, type Heading, type Piece, writtenOf } from './piece.ts';
import { Position } from './position.ts';
import { type Border, greaterBorder, type Limit, type Pause, type Segment, type Silence } from './segment.ts';
import type { Stage } from './stage.ts';
import { cleaned, fitting, hasAtMost, hasWord, leadingSpace, withoutInvisible } from './unicode.ts';

/**
 * How long segments are.
 * full: as long as the voice allows
 * ramp: the first is one sentence and later ones grow, so that sound starts early
 * sentence: one sentence each, for subtitles
 * heard: one sentence each, and a first clause if the sentence is long, for live sound
 * whole: one segment for the text
 */
export type Pace = 'full' | 'ramp' | 'sentence' | 'heard' | 'whole';

/** Code points of the second segment at pace "ramp"; each later one may be twice as long as the one before. */
const FIRST_STEP = 250;

/**
 * Returns the size up to which sentences are joined, in code points.
 * @param step the segment's number in its paragraph plus the paragraph's number, so that an edit changes only its own
 *   paragraph
 */
function targetOf(pace: Pace, step: number): number {
  if (pace === 'full' || pace === 'whole') return Number.POSITIVE_INFINITY;
  return pace === 'ramp' && step !== 0 ? FIRST_STEP * 2 ** (step - 1) : 0;
}

export interface CutOptions<V extends Limit = Limit> {
  /** The voice that speaks until a piece names another one. */
  readonly voice: V;
  readonly pace: Pace;
  /** True to cut at paragraphs even if the whole text would fit one segment. */
  readonly cutsParagraphs?: boolean | undefined;
  /** True to divide each segment into its sentences, unless its sound is in the cache. */
  readonly dividesNew?: boolean | undefined;
}

/** UTF-16 units. */
const SMALLEST_WINDOW = 16_384;
const SEGMENTS_IN_WINDOW = 8;

/** The longest text that is buffered until its end arrives, in UTF-16 units. */
function windowOf({ maxChars }: Limit): number {
  return Math.max(SMALLEST_WINDOW, maxChars * SEGMENTS_IN_WINDOW);
}

/** Pieces that are text or borders, not marks. */
type Written<V> = Exclude<Piece<V>, { readonly kind: 'pause' | 'voice' | 'language' | 'cue' }>;

/**
 * Cuts text into segments, and drops nothing but white space between them. A text that fits is one segment, except at the
 * paces "ramp", "sentence" and "heard", and with `cutsParagraphs`. A longer one is cut at the best border: paragraph,
 * sentence, clause, word, grapheme cluster. Text between two pauses or voices is cut as a text of its own.
 * The segments of a paragraph depend on its text alone (at pace "ramp" also on its number), unless `flush` cuts it earlier.
 * Memory is bounded: paragraphs and grapheme clusters longer than eight segments or 16,384 UTF-16 units are cut there.
 */
export class Cutter<V extends Limit = Limit> implements Stage<Piece<V>, Segment<V> | Silence> {
  readonly #options: CutOptions<V>;
  readonly #mayFitOne: boolean;
  #voice: V;
  /** held: the whole text is buffered, as it may fit one segment; short: released, but may still fit; long: does not fit */
  #size: 'held' | 'short' | 'long';
  #held: Written<V>[] = [];
  #heldText = '';
  /** Text that was read after the last segment. */
  #text = '';
  readonly #position = new Position();
  #paragraph = -1;
  #numberInParagraph = 0;
  #index = 0;
  /** True if a part of the text was emitted already. */
  #hasEmitted = false;
  /** False if the text begins inside a sentence. */
  #startsSentence = true;
  /** The pause before the next segment, if a mark or a border other than a paragraph's was read. */
  #pause: number | Border | undefined;
  /** The times of the current subtitle cue. */
  #cue: CueTime | undefined;
  #chapter: Heading | undefined;
  /** A chapter whose first segment was not emitted yet. */
  #opening: (Omit<Heading, 'number'> & Partial<Heading>) | undefined;

  constructor(options: CutOptions<V>) {
    this.#options = options;
    this.#voice = options.voice;
    this.#mayFitOne = (options.pace === 'full' || options.pace === 'whole') && !options.cutsParagraphs;
    this.#size = this.#mayFitOne ? 'held' : 'long';
  }

  /** True if text other than white space is buffered. */
  get isHolding(): boolean {
    return /\S/u.test(this.#text) || /\S/u.test(this.#heldText);
  }

  /** Yields the segments that no later piece can change. */
  *push(piece: Piece<V>): Generator<Segment<V> | Silence> {
    if (piece.kind === 'voice' && piece.voice !== this.#voice) {
      yield* this.#endText();
      this.#voice = piece.voice;
    } else if (piece.kind === 'pause') {
      yield* this.#endText();
      this.#pause = piece.seconds + (typeof this.#pause === 'number' ? this.#pause : 0);
    } else if (piece.kind === 'cue') {
      if (piece.time) yield* this.#endText();
      this.#cue = piece.time;
    } else if (piece.kind !== 'voice' && piece.kind !== 'language') yield* this.#hold(piece);
  }

  /** Also yields text that counts as complete because nothing has arrived for `idleMs`. */
  *flush(idleMs: number, heldMs = 0): Generator<Segment<V> | Silence> {
    yield* this.#release(false);
    this.#skipSpace();
    const isUnspoken = this.#index === 0 && ['ramp', 'heard'].includes(this.#options.pace);
    const length =
      completeLength(this.#text, idleMs) || (isUnspoken ? clauseLength(this.#text, idleMs, heldMs) : 0);
    const rest = this.#text.slice(length);
    const isFull = hasWord(rest) && !this.#fits(rest);
    if (length === 0 && !isFull) return;
    this.#size = 'long';
    this.#hasEmitted = true;
    this.#text = this.#text.slice(0, length);
    yield* this.#cutKnown();
    if (length > 0) yield* this.#cut(this.#text);
    this.#text = rest;
    if (isFull) yield* this.#cutAllButLast(rest);
  }

  *end(): Generator<Segment<V> | Silence> {
    yield* this.#release(true);
    // Skip punctuation left over from an emitted sentence: many services refuse text without words.
    if (!this.#hasEmitted || hasWord(this.#text)) yield* this.#cutRest();
    this.#text = '';
    yield* this.#closingPause();
  }

  /** Buffers the text until it is longer than one segment, as only longer text is cut at its paragraphs. */
  *#hold(piece: Written<V>): Generator<Segment<V> | Silence> {
    if (this.#size !== 'held') return yield* this.#read(piece, false);
    this.#held.push(piece);
    this.#heldText += writtenOf(piece);
    if (!this.#heldFits()) yield* this.#release(false);
  }

  #heldFits(): boolean {
    const window = windowOf(this.#voice);
    const { length } = this.#heldText;
    if (this.#held.length >= window || length >= window) return false;
    return length <= this.#voice.maxChars || hasAtMost(this.#heldText.trim(), this.#voice.maxChars);
  }

  /** @param isWhole true if the text ends here, and so fits one segment */
  *#release(isWhole: boolean): Generator<Segment<V> | Silence> {
    const held = this.#held;
    this.#held = [];
    this.#heldText = '';
    if (this.#size === 'held') this.#size = 'short';
    for (const piece of held) yield* this.#read(piece, isWhole);
  }

  *#read(piece: Written<V>, isInShort: boolean): Generator<Segment<V> | Silence> {
    if (piece.kind !== 'text' && piece.kind !== 'paragraph')
      return yield* this.#crossBorder(piece, isInShort);
    const text = writtenOf(piece);
    this.#position.add(text, piece.kind === 'text' ? piece.place : undefined);
    this.#text += text;
    if (this.#text.length >= windowOf(this.#voice)) yield* this.#cutKnown();
  }

  *#crossBorder(
    border: Exclude<Written<V>, { kind: 'text' | 'paragraph' }>,
    isInShort: boolean,
  ): Generator<Segment<V> | Silence> {
    if (!isInShort) this.#size = 'long';
    yield* this.#endPart();
    if (border.kind === 'chapter') {
      yield* this.#closingPause();
      const { kind: _, ...opening } = border;
      this.#opening = opening;
    }
    if (typeof this.#pause !== 'number') this.#pause = greaterBorder(border.kind, this.#pause);
    this.#position.add(EMPTY_LINE);
    this.#position.pass(EMPTY_LINE);
  }

  /** Ends the text: later pieces are cut as a text of their own. */
  *#endText(): Generator<Segment<V> | Silence> {
    yield* this.#release(true);
    yield* this.#endPart();
    this.#size = this.#mayFitOne ? 'held' : 'long';
  }

  /** Ends the segment: later text belongs to another one. */
  *#endPart(): Generator<Segment<V>> {
    if (hasWord(this.#text)) yield* this.#cutRest();
    this.#consume(this.#text);
    this.#hasEmitted = true;
    this.#startsSentence = true;
  }

  /** Yields the pause that no segment of its chapter follows. */
  *#closingPause(): Generator<Silence> {
    if (typeof this.#pause === 'number') yield { kind: 'silence', seconds: this.#pause };
    this.#pause = undefined;
  }

  *#cutRest(): Generator<Segment<V>> {
    yield* this.#cutKnown();
    if (this.#size === 'long') return yield* this.#cut(this.#text);
    this.#countParagraph();
    yield* this.#whole(this.#text);
  }

  /**
   * Cuts the paragraphs that are complete. Each pass consumes text, so the loop ends: a window that gives no segment is
   * taken whole.
   */
  *#cutKnown(): Generator<Segment<V>> {
    for (this.#skipSpace(); this.#isKnownLong(); this.#skipSpace()) {
      const { length } = this.#text;
      const view = fitting(this.#text, windowOf(this.#voice));
      const paragraph = secondParagraph(view);
      if (paragraph !== undefined) yield* this.#cut(view.slice(0, paragraph));
      else if (length < windowOf(this.#voice)) return;
      else yield* this.#cutAllButLast(view);
      if (this.#text.length < length) continue;
      yield* this.#whole(view);
      this.#startsSentence = false;
    }
  }

  #isKnownLong(): boolean {
    const { length } = this.#text;
    const isTooLong = this.#size === 'short' && (length >= windowOf(this.#voice) || !this.#fits(this.#text));
    if (isTooLong) this.#size = 'long';
    return this.#size === 'long' && length > 0;
  }

  #fits(text: string): boolean {
    const { maxChars } = this.#voice;
    const visible = text.trimEnd();
    return hasAtMost(visible, maxChars) || hasAtMost(cleaned(visible), maxChars);
  }

  *#cut(text: string): Generator<Segment<V>> {
    for (const part of this.#pack(text)) yield* this.#emit(part);
    this.#startsSentence = true;
  }

  /** Keeps the last part, as later text may continue it. */
  *#cutAllButLast(text: string): Generator<Segment<V>> {
    let last: Packed | undefined;
    for (const part of this.#pack(text)) {
      if (last) yield* this.#emit(last);
      last = part;
    }
    this.#startsSentence = last?.startsSentence ?? this.#startsSentence;
  }

  #pack(paragraph: string): Generator<Packed> {
    this.#countParagraph();
    const [pace, step] = [this.#options.pace, this.#paragraph + this.#numberInParagraph];
    const target = (number: number) => targetOf(pace, step + number);
    return pack(paragraph, { max: this.#voice.maxChars, target, startsSentence: this.#startsSentence });
  }

  #countParagraph(): void {
    if (!this.#position.startsParagraph) return;
    this.#paragraph += 1;
    this.#numberInParagraph = 0;
  }

  *#whole(written: string): Generator<Segment<V>> {
    const text = cleaned(unwrapped(withoutInvisible(written), this.#options.pace === 'whole'));
    yield* this.#emit({ written, text, startsSentence: this.#startsSentence });
  }

  *#emit({ written: all, text: spaced, startsSentence }: Packed): Generator<Segment<V>> {
    const left = this.#text.length - all.length;
    const space = leadingSpace(all) ?? all.length;
    const text = spaced.slice(leadingSpace(spaced)).trimEnd();
    this.#consume(all.slice(0, space));
    if (text !== '') {
      const whole = { written: all.slice(space).trimEnd(), text };
      yield* this.#segments({ ...whole, pause: this.#pauseBefore(startsSentence) });
    }
    this.#consume(this.#text.slice(0, this.#text.length - left));
  }

  *#segments(whole: Spoken): Generator<Segment<V>> {
    const [voice, chapter, cue] = [this.#voice, this.#chapter, this.#cue];
    const isDivided = this.#options.dividesNew && !voice.isCached?.(whole);
    const parts = isDivided ? segmentsOf(whole.written, { voice, pace: 'sentence' }) : [whole];
    for (const [at, { text, written, pause }] of parts.entries()) {
      this.#consume(this.#text.slice(0, this.#text.indexOf(written)));
      const { place } = this.#position;
      this.#consume(written);
      this.#index += 1;
      yield {
        kind: 'segment',
        index: this.#index - 1,
        text,
        written,
        place,
        role: voice,
        pause: at === 0 ? whole.pause : pause,
        chapter,
        ...(cue && { cue }),
      };
    }
  }

  #pauseBefore(startsSentence: boolean): Pause {
    const border = this.#numberInParagraph === 0 ? 'paragraph' : startsSentence ? 'sentence' : 'none';
    const pause = this.#pause ?? border;
    if (this.#opening) this.#chapter = { number: (this.#chapter?.number ?? 0) + 1, ...this.#opening };
    this.#pause = undefined;
    this.#opening = undefined;
    this.#numberInParagraph += 1;
    return pause;
  }

  /** Skips leading white space, but keeps a last space that a combining mark may follow. */
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

type Spoken = Pick<Segment, 'text' | 'written' | 'pause'>;

/** Cuts a text without marks, and yields the text of each segment. */
export function* cutText(text: string, voice: Limit): Generator<string> {
  for (const segment of segmentsOf(text, { voice, pace: 'full' })) yield segment.text;
}

function segmentsOf(text: string, options: CutOptions): Segment<Limit>[] {
  const cutter = new Cutter(options);
  const all = [...cutter.push({ kind: 'text', text, place: { source: '' } }), ...cutter.end()];
  return all.filter((each) => each.kind === 'segment');
}
