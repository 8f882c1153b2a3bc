/** Packs the sentences of a paragraph into parts that fit a segment. */
import { unwrapped } from './lines.ts';
import { sentences } from './sentences.ts';
import {
  cleaned,
  countCodePoints,
  invisibleSkipped,
  offsetOfCodePoint,
  segmenters,
  withoutInvisible,
} from './unicode.ts';

/** A part of a paragraph, as written and as it is spoken. */
export interface Packed {
  readonly written: string;
  readonly text: string;
  /** False if it begins inside a sentence. */
  readonly startsSentence: boolean;
}

/** Limits for the parts of a paragraph. Lengths are code points of cleaned text, without outer white space. */
interface PackLimits {
  readonly max: number;
  /** Returns the size up to which sentences are joined, by the number of the part. */
  readonly target: (number: number) => number;
  /** False if the first part begins inside a sentence. */
  readonly startsSentence: boolean;
}

/** Splits a paragraph into parts; joined, they are the paragraph. Invisible characters do not affect the borders. */
export function* pack(paragraph: string, limits: PackLimits): Generator<Packed> {
  const visible = withoutInvisible(paragraph);
  const unbroken = unwrapped(visible);
  let [at, from] = [0, 0];
  for (const { written, startsSentence } of joined(visible, limits)) {
    const end = at + written.length;
    const isLast = end === visible.length;
    const length = isLast ? paragraph.length : invisibleSkipped(paragraph.slice(from), written.length);
    const text = cleaned(unbroken.slice(at, end));
    yield { written: paragraph.slice(from, from + length), text, startsSentence };
    [at, from] = [end, from + length];
  }
}

type Uncleaned = Omit<Packed, 'text'>;

/** Joins sentences up to the target size. */
function* joined(paragraph: string, { max, target, startsSentence }: PackLimits): Generator<Uncleaned> {
  let part: Uncleaned | undefined;
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

/** Splits a paragraph into sentences, and cuts those that are too long. */
function* divided(paragraph: string, max: number, startsFirst: boolean): Generator<Uncleaned> {
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

/** Borders in this first share of the limit are not used: they would leave a fragment. */
const EARLIEST = 0.25;
/** UTF-16 units around a limit that are segmented into words, for scripts without spaces. */
const WORD_SIGHT = 200;

/** Inside a sentence, a blank line occurs only before text without letters, such as "* * *". */
const BLANK_LINE = /\n[^\S\n]*\n\s*/gu;
const CLAUSE_END = /[,;:،؛—–]["'”’»)\]]*\s+|[、，；：]["'”’」』）]*\s*|(?<!\s)\s+(?=[-–—]\s)|[)\]]\s+/gu;

/**
 * Returns the end of the last clause that fits, else of the last word, else of the last grapheme cluster.
 * @param max code points; only a single grapheme cluster may be longer
 * @returns UTF-16 units, at least 1
 */
function lastFittingBorder(text: string, max: number): number {
  const limit = offsetOf(text, max);
  const end = limit + spaceAt(text, limit);
  if (end === text.length) return end;
  const clusters = segmenters.grapheme().segment(text.slice(0, end + WORD_SIGHT));
  const isWhole = (border: number) => border > 0 && clusters.containing(border)?.index === border;
  const fitting = text.slice(0, end);
  const good = [lastMatch(BLANK_LINE, fitting), lastMatch(CLAUSE_END, fitting), lastSpace(fitting)].find(
    (border) => border >= limit * EARLIEST && isWhole(border),
  );
  if (good !== undefined) return good;
  const word = lastWord(text, end);
  return isWhole(word) ? word : lastCluster(text, limit);
}

/** Returns the UTF-16 length of the first `count` code points of cleaned text. */
function offsetOf(text: string, count: number): number {
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left = count - lengthOf(text.slice(0, at)))
    at += offsetOfCodePoint(text.slice(at), left);
  // A combining mark after a space forms a character with it.
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

/** Returns the end of the last word by ICU's dictionaries; 0 without a word. */
function lastWord(text: string, end: number): number {
  const from = Math.max(0, end - WORD_SIGHT);
  let last = 0;
  for (const { index, isWordLike } of segmenters.word().segment(text.slice(from, end + WORD_SIGHT))) {
    if (from + index > end) break;
    if (isWordLike && index > 0) last = from + index;
  }
  return last;
}

/** Returns the end of the last grapheme cluster that fits, or else of the first one. */
function lastCluster(text: string, limit: number): number {
  const near = segmenters.grapheme().segment(text.slice(0, limit + WORD_SIGHT));
  const before = near.containing(limit)?.index ?? 0;
  if (before > 0) return before;
  for (let seen = limit + WORD_SIGHT; ; seen *= 2) {
    const first =
      segmenters.grapheme().segment(text.slice(0, seen)).containing(0)?.segment.length ?? text.length;
    if (first < seen || seen >= text.length) return first;
  }
}
