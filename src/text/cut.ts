import { clauseLength, completeLength } from './complete.ts';
import { secondParagraph, unwrapped } from './lines.ts';
import { EMPTY_LINE, type Heading, type Piece, writtenOf } from './piece.ts';
import { Position } from './position.ts';
import { type Border, greater, type Limit, type Pause, type Rest, type Segment } from './segment.ts';
import { sentences } from './sentences.ts';
import type { Stage } from './stage.ts';
import {
  cleaned,
  countCodePoints,
  fitting,
  hasAtMost,
  hasWord,
  invisibleSkipped,
  leadingSpace,
  offsetOfCodePoint,
  segmenterOf,
  withoutInvisible,
} from './unicode.ts';

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
type Written<V> = Exclude<Piece<V>, { readonly kind: 'pause' | 'voice' }>;

/** A part of a text, and what the voice gets of it. */
interface Packed {
  readonly written: string;
  readonly text: string;
  /** False if it begins inside a sentence. */
  readonly startsSentence: boolean;
}

/**
 * Cuts text into segments, and drops nothing but white space between them. A text that fits is one segment, except where it is
 * heard live, at pace "sentence" and with `cutsParagraphs`. A longer one is cut at the best border: paragraph, sentence, clause,
 * word, grapheme cluster. Between two pauses or voices stands a text of its own.
 * The segments of a paragraph depend on its text alone (at pace "ramp" also on its number). Only `flush` changes that.
 * Memory is bounded: paragraphs and grapheme clusters longer than eight segments or 16,384 UTF-16 units are cut there.
 */
export class Cutter<V extends Limit = Limit> implements Stage<Piece<V>, Segment<V> | Rest> {
  readonly #options: CutOptions<V>;
  readonly #mayBeShort: boolean;
  #voice: V;
  /** The pieces of a text, while all of it may fit one segment. */
  #held: Written<V>[] = [];
  #heldText = '';
  /** True until the text has more pieces than may be held. */
  #holds: boolean;
  /** True while the text, up to its last border, may fit one segment. */
  #isShort: boolean;
  /** The text after the last segment, without what is held. */
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
  #chapter: Heading | undefined;
  /** A chapter that has no segment yet. */
  #opening: (Omit<Heading, 'number'> & Partial<Heading>) | undefined;

  constructor(options: CutOptions<V>) {
    this.#options = options;
    this.#voice = options.voice;
    this.#mayBeShort = (options.pace === 'full' || options.pace === 'whole') && !options.cutsParagraphs;
    this.#holds = this.#mayBeShort;
    this.#isShort = this.#mayBeShort;
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
    } else if (piece.kind !== 'voice') yield* this.#hold(piece);
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
    this.#isShort = false;
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
    if (this.#holds) {
      this.#held.push(piece);
      this.#heldText += writtenOf(piece);
      if (this.#heldFits()) return;
      yield* this.#release(false);
    } else yield* this.#read(piece, false);
  }

  #heldFits(): boolean {
    const window = windowOf(this.#voice);
    if (this.#held.length >= window || this.#heldText.length >= window) return false;
    return hasAtMost(this.#heldText.trim(), this.#voice.maxChars);
  }

  /** @param isShort true if the text that is held fits one segment, and ends here */
  *#release(isShort: boolean): Generator<Segment<V> | Rest> {
    const held = this.#held;
    this.#held = [];
    this.#heldText = '';
    this.#holds = false;
    for (const piece of held) yield* this.#read(piece, isShort);
  }

  *#read(piece: Written<V>, isShort: boolean): Generator<Segment<V> | Rest> {
    if (piece.kind !== 'text' && piece.kind !== 'paragraph') return yield* this.#cross(piece, isShort);
    const text = writtenOf(piece);
    this.#position.add(text, piece.kind === 'text' ? piece.place : undefined);
    this.#text += text;
    if (this.#text.length >= windowOf(this.#voice)) yield* this.#cutKnown();
  }

  *#cross(
    border: Exclude<Written<V>, { kind: 'text' | 'paragraph' }>,
    isShort: boolean,
  ): Generator<Segment<V> | Rest> {
    this.#isShort &&= isShort;
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
    this.#holds = this.#mayBeShort;
    this.#isShort = this.#mayBeShort;
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
    if (!this.#isShort) return yield* this.#cut(this.#text);
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
    this.#isShort &&= length < windowOf(this.#voice) && this.#fits(this.#text);
    return !this.#isShort && length > 0;
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
    const [voice, chapter] = [this.#voice, this.#chapter];
    const isDivided = this.#options.dividesNew && !voice.isKept?.(whole);
    let isFirst = true;
    for (const { text, written, pause } of isDivided ? sentencesOf(whole, voice) : [whole]) {
      this.#consume(this.#text.slice(0, this.#text.indexOf(written)));
      const [place, index] = [this.#position.place, this.#index];
      this.#consume(written);
      this.#index += 1;
      yield {
        kind: 'segment',
        index,
        text,
        written,
        place,
        voice,
        pause: isFirst ? whole.pause : pause,
        chapter,
      };
      isFirst = false;
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

function* sentencesOf({ written }: Spoken, voice: Limit): Generator<Spoken> {
  for (const segment of cutAll(written, { voice, pace: 'sentence' }))
    if (segment.kind === 'segment') yield segment;
}

/** The texts of the segments of a text without marks. */
export function* cutText(text: string, voice: Limit): Generator<string> {
  for (const segment of cutAll(text, { voice, pace: 'full' }))
    if (segment.kind === 'segment') yield segment.text;
}

function* cutAll(text: string, options: CutOptions): Generator<Segment | Rest> {
  const cutter = new Cutter(options);
  yield* cutter.push({ kind: 'text', text, place: { source: '' } });
  yield* cutter.end();
}

/** What a part of a paragraph may hold. Lengths are code points of clean text, without outer white space. */
interface Room {
  readonly max: number;
  /** The size up to which sentences are joined, by the number of the part. */
  readonly target: (number: number) => number;
  /** False if the first part begins inside a sentence. */
  readonly startsSentence: boolean;
}

/** The parts of a paragraph; joined, they are the paragraph. What is invisible decides nothing. */
function* pack(paragraph: string, room: Room): Generator<Packed> {
  const visible = withoutInvisible(paragraph);
  const unbroken = unwrapped(visible);
  let [at, from] = [0, 0];
  for (const { written, startsSentence } of joined(visible, room)) {
    const end = at + written.length;
    const isLast = end === visible.length;
    const length = isLast ? paragraph.length : invisibleSkipped(paragraph.slice(from), written.length);
    const text = cleaned(unbroken.slice(at, end));
    yield { written: paragraph.slice(from, from + length), text, startsSentence };
    [at, from] = [end, from + length];
  }
}

type Part = Omit<Packed, 'text'>;

/** Joins sentences as far as there is room. */
function* joined(paragraph: string, { max, target, startsSentence }: Room): Generator<Part> {
  let part: Part | undefined;
  let [length, number] = [0, 0];
  for (const next of divided(paragraph, max, startsSentence)) {
    const size = lengthOf(next.written);
    const room = Math.min(max, target(number)) - length;
    if (part && size > room && lengthOf(next.written.trimEnd()) > room) {
      yield part;
      part = undefined;
      [length, number] = [0, number + 1];
    }
    part = part ? { ...part, written: part.written + next.written } : next;
    length += size;
  }
  if (part) yield part;
}

/** The sentences of a paragraph; one that is too long is cut. */
function* divided(paragraph: string, max: number, startsFirst: boolean): Generator<Part> {
  let startsSentence = startsFirst;
  for (const sentence of sentences(paragraph)) {
    for (let rest = sentence; rest !== ''; startsSentence = false) {
      const border = lastFittingBorder(rest, max);
      yield { written: rest.slice(0, border), startsSentence };
      rest = rest.slice(border);
    }
    startsSentence = true;
  }
}

function lengthOf(text: string): number {
  return countCodePoints(cleaned(text));
}

const graphemes = segmenterOf('grapheme');
const words = segmenterOf('word');

/** A border in this first share would leave a fragment. */
const EARLIEST = 0.25;
/** UTF-16 units, in scripts without spaces. */
const WORD_SIGHT = 200;

/** Only before a part without letters, such as "* * *". */
const BLANK_LINE = /\n[^\S\n]*\n\s*/gu;
const CLAUSE_END = /[,;:،؛—–]["'”’»)\]]*\s+|[、，；：]["'”’」』）]*\s*|(?<!\s)\s+(?=[-–—]\s)|[)\]]\s+/gu;

/**
 * After the last clause that fits, else the last word, else the last grapheme cluster.
 * @param max code points; only a single grapheme cluster may be longer
 * @returns UTF-16 units, at least 1
 */
function lastFittingBorder(text: string, max: number): number {
  const limit = offsetOf(text, max);
  const end = limit + spaceAt(text, limit);
  if (end === text.length) return end;
  const clusters = graphemes().segment(text.slice(0, end + WORD_SIGHT));
  const isWhole = (border: number) => border > 0 && clusters.containing(border)?.index === border;
  const fitting = text.slice(0, end);
  const good = [lastMatch(BLANK_LINE, fitting), lastMatch(CLAUSE_END, fitting), lastSpace(fitting)].find(
    (border) => border >= limit * EARLIEST && isWhole(border),
  );
  if (good !== undefined) return good;
  const word = lastWord(text, end);
  return isWhole(word) ? word : lastCluster(text, limit);
}

/** UTF-16 units. */
function offsetOf(text: string, count: number): number {
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left = count - lengthOf(text.slice(0, at)))
    at += offsetOfCodePoint(text.slice(at), left);
  // A mark after a space makes a character of both.
  return lengthOf(text.slice(0, at)) > count ? offsetOfCodePoint(text, count) : at;
}

function spaceAt(text: string, from: number): number {
  const next = /\S/gu;
  next.lastIndex = from;
  return (next.exec(text)?.index ?? text.length) - from;
}

function lastMatch(border: RegExp, text: string): number {
  let last = 0;
  for (const { 0: found, index } of text.matchAll(border)) last = index + found.length;
  return last;
}

function lastSpace(text: string): number {
  for (let at = text.length; at > 0; at -= 1) if (/\s/u.test(text.charAt(at - 1))) return at;
  return 0;
}

/** ICU's dictionaries decide where words end. It gives 0 where there is no word. */
function lastWord(text: string, end: number): number {
  const from = Math.max(0, end - WORD_SIGHT);
  let last = 0;
  for (const { index, isWordLike } of words().segment(text.slice(from, end + WORD_SIGHT))) {
    if (from + index > end) break;
    if (isWordLike && index > 0) last = from + index;
  }
  return last;
}

/** It gives the end of the first cluster where no other fits. */
function lastCluster(text: string, limit: number): number {
  const near = graphemes().segment(text.slice(0, limit + WORD_SIGHT));
  const before = near.containing(limit)?.index ?? 0;
  if (before > 0) return before;
  for (let seen = limit + WORD_SIGHT; ; seen *= 2) {
    const first = graphemes().segment(text.slice(0, seen)).containing(0)?.segment.length ?? text.length;
    if (first < seen || seen >= text.length) return first;
  }
}
