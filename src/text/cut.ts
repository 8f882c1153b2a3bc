import { clauseLength, completeLength } from './complete.ts';
import { secondParagraph, unwrapped } from './lines.ts';
import { type Packed, pack } from './pack.ts';
import { type CueTime, EMPTY_LINE, type Heading, type Piece, writtenOf } from './piece.ts';
import { Position } from './position.ts';
import { type Border, greater, type Limit, type Pause, type Rest, type Segment } from './segment.ts';
import type { Stage } from './stage.ts';
import { cleaned, fitting, hasAtMost, hasWord, leadingSpace, withoutInvisible } from './unicode.ts';

/**
 * full: as long as possible
 * ramp: the first is one sentence, the next ones grow, for an early sound
 * sentence: one sentence each, for subtitles
 * heard: the same for what is heard live
 * whole: the whole text
 */
export type Pace = 'full' | 'ramp' | 'sentence' | 'heard' | 'whole';

/** Code points at pace "ramp"; each next segment is twice as long. */
const FIRST_STEP = 250;

/**
 * The size up to which sentences are joined, in code points.
 * @param step the number of the segment in its paragraph, plus that of the paragraph: an edit changes its own paragraph only
 */
function targetOf(pace: Pace, step: number): number {
  if (pace === 'full' || pace === 'whole') return Number.POSITIVE_INFINITY;
  return pace === 'ramp' && step !== 0 ? FIRST_STEP * 2 ** (step - 1) : 0;
}

export interface CutOptions<V extends Limit = Limit> {
  /** It speaks until a piece names another one. */
  readonly voice: V;
  readonly pace: Pace;
  /** A text that would fit one segment is cut at its paragraphs, too. */
  readonly cutsParagraphs?: boolean | undefined;
  /** Each segment is divided into its sentences, unless its sound is in the cache. */
  readonly dividesNew?: boolean | undefined;
}

/** UTF-16 units. */
const SMALLEST_WINDOW = 16_384;
const SEGMENTS_IN_WINDOW = 8;

/** The longest text that may wait for its end, in UTF-16 units. */
function windowOf({ maxChars }: Limit): number {
  return Math.max(SMALLEST_WINDOW, maxChars * SEGMENTS_IN_WINDOW);
}

/** All pieces but marks. */
type Written<V> = Exclude<Piece<V>, { readonly kind: 'pause' | 'voice' | 'language' | 'cue' }>;

/**
 * Cuts text into segments, and drops nothing but white space between them. A text that fits is one segment, except where it is
 * heard live, at pace "sentence" and with `cutsParagraphs`. A longer one is cut at the best border: paragraph, sentence, clause,
 * word, grapheme cluster. What stands between two pauses or voices is a text of its own.
 * The segments of a paragraph depend on its text alone (at pace "ramp" also on its number). Only `flush` changes that.
 * Memory is bounded: paragraphs and grapheme clusters longer than eight segments or 16,384 UTF-16 units are cut there.
 */
export class Cutter<V extends Limit = Limit> implements Stage<Piece<V>, Segment<V> | Rest> {
  readonly #options: CutOptions<V>;
  readonly #mayBeShort: boolean;
  #voice: V;
  /** held: all of the text waits, as it may fit one segment; short: it may fit, as far as it is read; long: it does not fit */
  #size: 'held' | 'short' | 'long';
  #held: Written<V>[] = [];
  #heldText = '';
  /** What was read after the last segment. */
  #text = '';
  readonly #position = new Position();
  #paragraph = -1;
  #numberInParagraph = 0;
  #index = 0;
  /** True if a part of the text is cut already. */
  #isAhead = false;
  /** False if the text begins inside a sentence. */
  #startsSentence = true;
  /** What was read of the silence before the next segment, besides the border of a paragraph. */
  #pause: number | Border | undefined;
  /** The cue of a film that is read. */
  #cue: CueTime | undefined;
  #chapter: Heading | undefined;
  /** A chapter that has no segment yet. */
  #opening: (Omit<Heading, 'number'> & Partial<Heading>) | undefined;

  constructor(options: CutOptions<V>) {
    this.#options = options;
    this.#voice = options.voice;
    this.#mayBeShort = (options.pace === 'full' || options.pace === 'whole') && !options.cutsParagraphs;
    this.#size = this.#mayBeShort ? 'held' : 'long';
  }

  /** True if it holds something that can be heard. */
  get isHolding(): boolean {
    return /\S/u.test(this.#text) || /\S/u.test(this.#heldText);
  }

  /** Yields what no later piece can change. */
  *push(piece: Piece<V>): Generator<Segment<V> | Rest> {
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

  /** Yields what is complete if the writer has waited so long, too. */
  *flush(idleMs: number, heldMs = 0): Generator<Segment<V> | Rest> {
    yield* this.#release(false);
    this.#skipSpace();
    const isUnspoken = this.#index === 0 && ['ramp', 'heard'].includes(this.#options.pace);
    const length =
      completeLength(this.#text, idleMs) || (isUnspoken ? clauseLength(this.#text, idleMs, heldMs) : 0);
    const rest = this.#text.slice(length);
    const isFull = hasWord(rest) && !this.#fits(rest);
    if (length === 0 && !isFull) return;
    this.#size = 'long';
    this.#isAhead = true;
    this.#text = this.#text.slice(0, length);
    yield* this.#cutKnown();
    if (length > 0) yield* this.#cut(this.#text);
    this.#text = rest;
    if (isFull) yield* this.#cutAllButLast(rest);
  }

  *end(): Generator<Segment<V> | Rest> {
    yield* this.#release(true);
    // Marks of a sentence that left before are left out: many services refuse bare marks.
    if (!this.#isAhead || hasWord(this.#text)) yield* this.#cutRest();
    this.#text = '';
    yield* this.#rest();
  }

  /** A longer text is cut at its paragraphs. So all of a text waits until it is known to be longer than one segment. */
  *#hold(piece: Written<V>): Generator<Segment<V> | Rest> {
    if (this.#size !== 'held') return yield* this.#read(piece, false);
    this.#held.push(piece);
    this.#heldText += writtenOf(piece);
    if (!this.#heldFits()) yield* this.#release(false);
  }

  #heldFits(): boolean {
    const window = windowOf(this.#voice);
    if (this.#held.length >= window || this.#heldText.length >= window) return false;
    return hasAtMost(this.#heldText.trim(), this.#voice.maxChars);
  }

  /** @param isWhole true if the text ends here, and so fits one segment */
  *#release(isWhole: boolean): Generator<Segment<V> | Rest> {
    const held = this.#held;
    this.#held = [];
    this.#heldText = '';
    if (this.#size === 'held') this.#size = 'short';
    for (const piece of held) yield* this.#read(piece, isWhole);
  }

  *#read(piece: Written<V>, isInShort: boolean): Generator<Segment<V> | Rest> {
    if (piece.kind !== 'text' && piece.kind !== 'paragraph') return yield* this.#cross(piece, isInShort);
    const text = writtenOf(piece);
    this.#position.add(text, piece.kind === 'text' ? piece.place : undefined);
    this.#text += text;
    if (this.#text.length >= windowOf(this.#voice)) yield* this.#cutKnown();
  }

  *#cross(
    border: Exclude<Written<V>, { kind: 'text' | 'paragraph' }>,
    isInShort: boolean,
  ): Generator<Segment<V> | Rest> {
    if (!isInShort) this.#size = 'long';
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

  /** What comes next is cut as a text of its own. */
  *#endText(): Generator<Segment<V> | Rest> {
    yield* this.#release(true);
    yield* this.#endPart();
    this.#size = this.#mayBeShort ? 'held' : 'long';
  }

  /** What comes next belongs to another segment. */
  *#endPart(): Generator<Segment<V>> {
    if (hasWord(this.#text)) yield* this.#cutRest();
    this.#consume(this.#text);
    this.#isAhead = true;
    this.#startsSentence = true;
  }

  /** A pause that no segment of its chapter follows. */
  *#rest(): Generator<Rest> {
    if (typeof this.#pause === 'number') yield { kind: 'rest', seconds: this.#pause };
    this.#pause = undefined;
  }

  *#cutRest(): Generator<Segment<V>> {
    yield* this.#cutKnown();
    if (this.#size === 'long') return yield* this.#cut(this.#text);
    this.#countParagraph();
    yield* this.#whole(this.#text);
  }

  /**
   * Cuts the paragraphs that are complete. Each pass takes something away: a view that is one part, or in which nothing is
   * heard, is taken whole.
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
    for (const part of this.#pack(text)) yield* this.#give(part);
    this.#startsSentence = true;
  }

  /** The last part may go on. */
  *#cutAllButLast(text: string): Generator<Segment<V>> {
    let last: Packed | undefined;
    for (const part of this.#pack(text)) {
      if (last) yield* this.#give(last);
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
    yield* this.#give({ written, text, startsSentence: this.#startsSentence });
  }

  *#give({ written: all, text: spaced, startsSentence }: Packed): Generator<Segment<V>> {
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
    const isDivided = this.#options.dividesNew && !voice.isKept?.(whole);
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

type Spoken = Pick<Segment, 'text' | 'written' | 'pause'>;

/** The texts of the segments of a text without marks. */
export function* cutText(text: string, voice: Limit): Generator<string> {
  for (const segment of segmentsOf(text, { voice, pace: 'full' })) yield segment.text;
}

function segmentsOf(text: string, options: CutOptions): Segment<Limit>[] {
  const cutter = new Cutter(options);
  const all = [...cutter.push({ kind: 'text', text, place: { source: '' } }), ...cutter.end()];
  return all.filter((each) => each.kind === 'segment');
}
