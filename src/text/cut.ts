import { EMPTY_LINE, type Heading, type Piece, writtenOf } from './piece.ts';
import { type Border, greater, type Limit, Position, type Rest, type Segment } from './segment.ts';
import { endsInDoubt, endsLikeSentence, isFullLine, isMarker, sentences } from './sentences.ts';
import { type LiveStage, LONG_SENTENCE_MS, type Stage, WAITS } from './stage.ts';
import {
  type Cleaned,
  cleaned,
  countCodePoints,
  fitting,
  goesOn,
  hasAtMost,
  hasWord,
  invisibleSkipped,
  isListItem,
  leadingSpace,
  lineBorders,
  offsetOfCodePoint,
  secondParagraph,
  segmenterOf,
  startsLower,
  unwrapped,
  withoutInvisible,
} from './unicode.ts';

/**
 * UTF-16 units of the complete beginning of a text; a longer wait completes more.
 * @param idle milliseconds without text
 */
export function completeLength(text: string, idle: number): number {
  if (!hasWord(text)) return 0;
  const isLong = idle >= (isDoubtful(text) ? WAITS.doubtful : WAITS.sentence);
  let complete = 0;
  let at = 0;
  for (const sentence of sentences(text)) {
    at += sentence.length;
    const space = sentence.slice(sentence.trimEnd().length);
    const isFollowed = isLong || at < text.length || space.includes('\n');
    if (/\n[^\S\n]*\n/u.test(space) || (isFollowed && isWhole(sentence.trim()))) complete = at;
  }
  const mayCarryMark = complete === text.length && /[^\S\n]$/u.test(text);
  const finished = idle >= WAITS.line ? finishedLength(text) : 0;
  return Math.max(mayCarryMark ? complete - 1 : complete, lastFullLine(text), finished);
}

function lastFullLine(text: string): number {
  let next = '';
  for (let end = text.length; end > 0; ) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const line = text.slice(start, end).trim();
    if (end < text.length && line !== '' && isFullLine(line, next))
      return hasWord(text.slice(0, end)) ? end + 1 : 0;
    next = line || next;
    end = start - 1;
  }
  return 0;
}

function isWhole(sentence: string): boolean {
  return endsLikeSentence(sentence) && !isMarker(sentence);
}

function isDoubtful(text: string): boolean {
  return endsInDoubt(text.slice(-SIGHT)) || isOpen(text);
}

const SIGHT = 80;
const PAIRS = ['()', '[]', '“”', '«»', '„“'] as const;

/** True in quotes or brackets. */
function isOpen(text: string): boolean {
  const count = (sign: string) => text.split(sign).length - 1;
  return (
    count('"') % 2 === 1 || PAIRS.some(([opening = '', closing = '']) => count(opening) > count(closing))
  );
}

function finishedLength(text: string): number {
  if (/[^\s\d]\s?[:：]\s*$/u.test(text)) return text.length;
  const thai = [...text.matchAll(/\p{sc=Thai}\s+/gu)].at(-1);
  return Math.max(thai ? thai.index + thai[0].length : 0, finishedLines(text));
}

/** The line before or after shows that lines are not wrapped. */
function finishedLines(text: string): number {
  const end = text.lastIndexOf('\n') + 1;
  const start = text.lastIndexOf('\n', end - 2) + 1;
  const line = text.slice(start, end).trim();
  const next = text.slice(end).trim();
  if (!hasWord(line) || isMarker(line) || /[-‐]$/u.test(line)) return 0;
  if (line.endsWith('.') && !endsLikeSentence(line)) return 0;
  if (next !== '') return goesOn(line) || startsLower(next) ? 0 : end;
  const indent = text.slice(start).search(/\S/u);
  return isListItem(line) || lineBorders(text.trimEnd()).includes(start + indent) ? end : 0;
}

/** Code points. */
const SHORTEST_CLAUSE = 40;
const CLAUSE_ENDS = /(?<!\d)[,;:][”"')\]]*\s+|[，；：、][”」』）]*|\s[–—]\s+/gu;

/**
 * UTF-16 units up to the last comma of a sentence that has become long; 0 if the clause would be too short.
 * @param idle milliseconds without text
 * @param held milliseconds in which the text has been held
 */
function clauseLength(text: string, idle: number, held: number): number {
  if (held < LONG_SENTENCE_MS) return 0;
  if (idle >= WAITS.sentence && /[\p{L}\p{M})”"][,;]\s*$/u.test(text.slice(-SIGHT))) return longEnough(text);
  const last = [...text.matchAll(CLAUSE_ENDS)].findLast(({ 0: end, index }) =>
    hasWord(text.slice(index + end.length)),
  );
  return last ? longEnough(text.slice(0, last.index + last[0].length)) : 0;
}

function longEnough(clause: string): number {
  return countCodePoints(clause.trim()) < SHORTEST_CLAUSE ? 0 : clause.length;
}

/** What counts: the clean text, so that other line breaks change nothing; or, as it once was, all that is written. */
type Counting = 'clean' | 'written';

/** Lengths count code points, without outer white space. */
interface Room {
  readonly max: number;
  /**
   * Sentences are joined up to this size.
   * @param piece its number in the paragraph
   */
  readonly target: (piece: number) => number;
}

/** A piece of a paragraph, as it is written. */
interface WrittenText {
  readonly written: string;
  /** False if it begins inside a sentence. */
  readonly startsSentence: boolean;
}

export interface Packed extends WrittenText, Cleaned {}

/** Where the text is, in its paragraph. */
interface Start extends Pick<WrittenText, 'startsSentence'> {
  /** The number of the first piece, from 0. */
  readonly number: number;
}

/**
 * Each piece with its clean text. Pieces whose sound is in the cache from the time when all that is written was counted
 * stay as they are.
 */
function packClean(
  paragraph: string,
  start: Start,
  room: Room,
  { isKept }: Pick<Limit, 'isKept'>,
): readonly Packed[] {
  const packed = (text: string, counting: Counting) => [
    ...cleanPieces(text, pack(text, start, room, counting)),
  ];
  const pieces = [...asWritten(paragraph, packed(withoutInvisible(paragraph), 'clean'))];
  const hasSameLengths = pieces.every(({ written, text }) => written.length === text.length);
  if (!isKept || hasSameLengths) return pieces;
  const isThere = ({ written, text }: Cleaned) => isKept({ written: written.trim(), text: text.trim() });
  if (pieces.every(isThere)) return pieces;
  const earlier = packed(paragraph, 'written');
  return earlier.every(isThere) ? earlier : pieces;
}

function* cleanPieces(paragraph: string, pieces: Iterable<WrittenText>): Generator<Packed> {
  const unbroken = unwrapped(paragraph);
  let at = 0;
  for (const piece of pieces) {
    const end = at + piece.written.length;
    yield { ...piece, text: cleaned(unbroken.slice(at, end)) };
    at = end;
  }
}

/** Puts back into the pieces what is invisible. */
function* asWritten(paragraph: string, pieces: readonly Packed[]): Generator<Packed> {
  let rest = paragraph;
  for (const [at, piece] of pieces.entries()) {
    const isLast = at === pieces.length - 1;
    const end = isLast ? rest.length : invisibleSkipped(rest, piece.written.length);
    yield { ...piece, written: rest.slice(0, end) };
    rest = rest.slice(end);
  }
}

/** The joined pieces are the paragraph. */
export function* pack(
  paragraph: string,
  start: Start,
  { max, target }: Room,
  counting: Counting,
): Generator<WrittenText> {
  let piece: WrittenText | undefined;
  let length = 0;
  let { number } = start;
  for (const part of parts(paragraph, start, max, counting)) {
    const { written } = part;
    if (piece && length + lengthOf(written.trimEnd(), counting) > Math.min(max, target(number))) {
      yield piece;
      number += 1;
      piece = undefined;
      length = 0;
    }
    piece = piece ? { ...piece, written: piece.written + written } : part;
    length += lengthOf(written, counting);
  }
  if (piece) yield piece;
}

function* parts(paragraph: string, start: Start, max: number, counting: Counting): Generator<WrittenText> {
  let { startsSentence } = start;
  for (const sentence of sentences(paragraph)) {
    for (const written of cut(sentence, max, counting)) {
      yield { written, startsSentence };
      startsSentence = false;
    }
    startsSentence = true;
  }
}

function lengthOf(text: string, counting: Counting): number {
  return countCodePoints(counting === 'clean' ? cleaned(text) : text);
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
 * The cut is after the last clause that fits, else the last word, else the last grapheme cluster.
 * @param maxChars code points; only a single grapheme cluster may be longer
 */
function* cut(sentence: string, maxChars: number, counting: Counting): Generator<string> {
  let rest = sentence;
  while (rest !== '') {
    const border = lastFittingBorder(rest, maxChars, counting);
    yield rest.slice(0, border);
    rest = rest.slice(border);
  }
}

function lastFittingBorder(text: string, maxChars: number, counting: Counting): number {
  const limit = offsetOf(text, maxChars, counting);
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
function offsetOf(text: string, count: number, counting: Counting): number {
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left = count - lengthOf(text.slice(0, at), counting))
    at += offsetOfCodePoint(text.slice(at), left);
  // A mark after a space makes a character of both.
  return lengthOf(text.slice(0, at), counting) > count ? offsetOfCodePoint(text, count) : at;
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
  const before =
    graphemes()
      .segment(text.slice(0, limit + WORD_SIGHT))
      .containing(limit)?.index ?? 0;
  if (before > 0) return before;
  for (let seen = limit + WORD_SIGHT; ; seen *= 2) {
    const first = graphemes().segment(text.slice(0, seen)).containing(0)?.segment.length ?? text.length;
    if (first < seen || seen >= text.length) return first;
  }
}

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

/** Code points, by the numbers of paragraph and place: an edit changes the segments of its paragraph only. */
export const targets: Record<Pace, (paragraph: number) => Room['target']> = {
  full: () => () => Number.POSITIVE_INFINITY,
  ramp: (paragraph) => (number) => {
    const step = paragraph + number;
    return step === 0 ? 0 : FIRST_STEP * 2 ** (step - 1);
  },
  sentence: () => () => 0,
  heard: () => () => 0,
  whole: () => () => Number.POSITIVE_INFINITY,
};

/** True if the first sound is worth more than a whole sentence. */
function isEarly(pace: Pace): boolean {
  return pace === 'ramp' || pace === 'heard';
}

/** UTF-16 units. */
const SMALLEST_WINDOW = 16_384;
const SEGMENTS_IN_WINDOW = 8;
/** A text with more borders is a long one, however little stands between them. */
const MOST_HELD = 1000;

/** The longest text that may wait for its end, in UTF-16 units. */
function windowOf({ maxChars }: Limit): number {
  return Math.max(SMALLEST_WINDOW, maxChars * SEGMENTS_IN_WINDOW);
}

/** These are all pieces but marks. */
type Written<V> = Exclude<Piece<V>, { readonly kind: 'pause' | 'voice' }>;

/** A piece, and whether the text that it stands in fits one segment. */
export interface Judged<V> {
  readonly piece: Written<V>;
  readonly isInShort: boolean;
}

/**
 * Tells of each border whether it stands in a text that fits one segment, since a longer text is cut at its paragraphs, too.
 * Until that is known, the borders wait, with all that comes after them.
 */
export class ShortText<V> {
  readonly #limit: () => Limit;
  #held: Written<V>[] = [];
  /** True if something of what waits can be heard. */
  isHolding = false;
  #written = '';
  #mayBeShort: boolean;

  /** @param mayBeShort false if no border has to wait */
  constructor(limit: () => Limit, mayBeShort: boolean) {
    this.#limit = limit;
    this.#mayBeShort = mayBeShort;
  }

  *push(piece: Written<V>): Generator<Judged<V>> {
    const written = writtenOf(piece);
    if (this.#mayBeShort && this.#isLongWith(written)) yield* this.judge(false);
    const isBorder = piece.kind !== 'text' && piece.kind !== 'paragraph';
    if (this.#mayBeShort && (isBorder || this.#held.length > 0)) {
      this.#held.push(piece);
      this.isHolding ||= written.trim() !== '';
    } else yield { piece, isInShort: false };
  }

  #isLongWith(text: string): boolean {
    if (text === '') return this.#held.length >= MOST_HELD;
    const limit = this.#limit();
    this.#written += text;
    return this.#written.length >= windowOf(limit) || !hasAtMost(this.#written.trim(), limit.maxChars);
  }

  /** Gives out what waits. What follows stands in the same text. */
  *judge(isShort: boolean): Generator<Judged<V>> {
    const held = this.#held;
    this.#held = [];
    this.isHolding = false;
    this.#written = '';
    this.#mayBeShort = false;
    for (const piece of held) yield { piece, isInShort: isShort };
  }

  /** Gives out what waits; then another text begins. */
  *end(mayBeShort: boolean): Generator<Judged<V>> {
    yield* this.judge(true);
    this.#mayBeShort = mayBeShort;
  }
}

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

/** Divides segments into their sentences, but for those whose sound is in the cache. */
export class KeptOrSentences<V extends Limit> implements Stage<Segment<V> | Rest, Segment<V> | Rest> {
  #index = 0;

  *push(item: Segment<V> | Rest): Generator<Segment<V> | Rest> {
    if (item.kind === 'rest') yield item;
    else
      for (const segment of item.voice.isKept?.(item) ? [item] : sentencesOf(item)) {
        yield { ...segment, index: this.#index };
        this.#index += 1;
      }
  }

  end(): readonly [] {
    return [];
  }
}

function* sentencesOf<V extends Limit>(whole: Segment<V>): Generator<Segment<V>> {
  const { voice, chapter } = whole;
  const segmenter = new Segmenter({ voice, pace: 'sentence' });
  let isFirst = true;
  for (const segment of segmented(partsOf(whole), segmenter)) {
    if (segment.kind === 'rest') continue;
    yield { ...segment, chapter, pause: isFirst ? whole.pause : segment.pause };
    isFirst = false;
  }
}

function* segmented<V extends Limit>(parts: Iterable<Piece<V>>, segmenter: Segmenter<V>) {
  for (const part of parts) yield* segmenter.push(part);
  yield* segmenter.end();
}

/** The parts of a segment that were joined, each with its place. */
function* partsOf<V extends Limit>({ written, place, anchors = [] }: Segment<V>): Generator<Piece<V>> {
  const all = [{ at: 0, place }, ...anchors];
  for (const [number, part] of all.entries())
    yield { kind: 'text', text: written.slice(part.at, all[number + 1]?.at), place: part.place };
}

/** The texts of the segments of a text without marks. */
export function* cutText(text: string, voice: Limit): Generator<string> {
  const segmenter = new Segmenter({ voice, pace: 'full' });
  const place = { source: '' };
  for (const segments of [segmenter.push({ kind: 'text', text, place }), segmenter.end()])
    for (const each of segments) if (each.kind === 'segment') yield each.text;
}
