import { unwrapped } from './lines.ts';
import { sentences } from './sentences.ts';
import {
  cleaned,
  countCodePoints,
  invisibleSkipped,
  offsetOfCodePoint,
  segmenterOf,
  withoutInvisible,
} from './unicode.ts';

/** A part of a text, and what the voice gets of it. */
export interface Packed {
  readonly written: string;
  readonly text: string;
  /** False if it begins inside a sentence. */
  readonly startsSentence: boolean;
}

/** What a part of a paragraph may hold. Lengths are code points of clean text, without outer white space. */
interface PackLimits {
  readonly max: number;
  /** The size up to which sentences are joined, by the number of the part. */
  readonly target: (number: number) => number;
  /** False if the first part begins inside a sentence. */
  readonly startsSentence: boolean;
}

/** The parts of a paragraph; joined, they are the paragraph. Invisible characters have no influence on the borders. */
export function* pack(paragraph: string, room: PackLimits): Generator<Packed> {
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
function* joined(paragraph: string, { max, target, startsSentence }: PackLimits): Generator<Part> {
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

/** Inside a sentence it only comes before what has no letters, such as "* * *". */
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
