import { type Cleaned, cleaned, invisibleSkipped, withoutInvisible } from './clean.ts';
import { unwrapped } from './lines.ts';
import type { Limit } from './segment.ts';
import { sentences } from './sentences.ts';
import { countCodePoints, offsetOfCodePoint, segmenterOf } from './unicode.ts';

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
export function packClean(
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
export function isEarly(pace: Pace): boolean {
  return pace === 'ramp' || pace === 'heard';
}
