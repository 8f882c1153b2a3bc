import type { Rest, Segment, Span } from './segment.ts';
import type { Stage } from './stage.ts';
import { countCodePoints, countLineBreaks } from './unicode.ts';

/** The placeholder of a character that was taken out, so that offsets stay. It is a noncharacter. */
const TAKEN_OUT = '\uFDD2';

/**
 * The texts of a run as they came, and where each segment is in them. Only text after the last segment is kept, and of that
 * the last four million UTF-16 units.
 * The alignment of words is the one place that finds this out, whatever readers and stages have changed: none of them has to
 * carry offsets along.
 */
export class Places {
  /** A stage in front of the reader writes it for each character that it takes out. */
  readonly filler = TAKEN_OUT;
  readonly #inputs = new Map<string, InputText>();

  /**
   * A stage that sees a text before its reader does.
   * @param passed characters of its source in front of it
   */
  of(source: string, { characters } = { characters: 0 }): Stage<string, string> {
    const input = new InputText(characters);
    this.#inputs.set(source, input);
    return {
      push(text) {
        input.add(text);
        const left = text.replaceAll(TAKEN_OUT, '');
        return left === '' ? [] : [left];
      },
      end: () => [],
    };
  }

  /** Segments of documents that are not text, such as EPUB, get none. */
  async *placing(segments: AsyncIterable<Segment | Rest>): AsyncGenerator<Segment | Rest> {
    for await (const each of segments) yield each.kind === 'rest' ? each : this.#placed(each);
  }

  #placed(segment: Segment): Segment {
    const { text, written, place } = segment;
    if (place.line === undefined) return segment;
    const found = this.#inputs.get(place.source)?.pass(written, place.line);
    if (!found) return segment;
    const placeOf = toWritten({ text, written });
    const wordSpan: Segment['wordSpan'] = (at, length) => found.spanOf(placeOf(at), placeOf(at + length));
    return { ...segment, span: found.span, wordSpan };
  }
}

/** Where a segment is in the input. */
interface SegmentOrigin {
  readonly span: Span;
  /** The same for a part of it, in UTF-16 units of what was written; `undefined` for what is not in the input. */
  spanOf(from: number, to: number): Span | undefined;
}

/** From a place in the clean text to the one in what was written: the two differ in white space and invisible characters. */
function toWritten({ text, written }: Pick<Segment, 'text' | 'written'>): (at: number) => number {
  if (text === written) return (at) => at;
  const places = [...written.matchAll(INK)].map(({ index }) => index);
  return (at) => places[text.slice(0, at).match(INK)?.length ?? 0] ?? written.length;
}

const INK = /[^\s\p{Cf}]/gu;

/** UTF-16 units. */
const MOST_KEPT = 4 * 1024 * 1024;

class InputText {
  /** What follows the last segment. */
  #text = '';
  /** Code points in front of it. */
  #start: number;
  /** The line in which it begins. */
  #line = 1;

  constructor(start: number) {
    this.#start = start;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length > 2 * MOST_KEPT) this.#forget(this.#text.length - MOST_KEPT);
  }

  pass(written: string, line: number): SegmentOrigin {
    const found = alignedIn(this.#text, written, this.#startOf(line));
    const start = this.#start + countCodePoints(this.#text.slice(0, found.start));
    const text = this.#text.slice(found.start, found.end);
    const end = start + countCodePoints(text);
    this.#forget(found.end);
    const spanOf = (from: number, to: number) => {
      const matches = found.matches.filter(
        ({ spoken }) => spoken.at < to && spoken.at + spoken.text.length > from,
      );
      const [first, last] = [matches[0], matches.at(-1)];
      if (!first || !last) return undefined;
      const [begin, finish] = [first.written.at, last.written.at + last.written.text.length].map(
        (at) => start + countCodePoints(text.slice(0, at - found.start)),
      );
      return { start: begin ?? start, end: finish ?? end };
    };
    return { span: { start, end }, spanOf };
  }

  /** UTF-16 units in front of a line. A line that has begun counts from what is left of it. */
  #startOf(line: number): number {
    let at = 0;
    for (let number = this.#line; number < line; number += 1) {
      const next = this.#text.indexOf('\n', at) + 1;
      if (next === 0) return at;
      at = next;
    }
    return at;
  }

  #forget(length: number): void {
    const passed = this.#text.slice(0, length);
    this.#start += countCodePoints(passed);
    this.#line += countLineBreaks(passed);
    this.#text = this.#text.slice(length);
  }
}

/** UTF-16 units in which a segment is looked for, besides three times its own length. */
const SIGHT = 1000;

/** The cost of a written token between two others that is not spoken. */
const GAP = 0.25;
/** The value of a token that is not a word; a word has its length. */
const MARK = 0.4;

const TOKENS = /[\p{L}\p{M}\p{N}]+|[^\s\uFDD2]/gu;
/** The address of a link is not spoken. */
const ADDRESS = /(?<=\])\([^()\s]*(?:\s"[^"\n]*")?\)/gu;
const CLOSING = /(?:[*_`~)\]}"'”’»]|(?<=\])\([^()\s]*\))*/uy;
const OPENING = /[*_`~([{"'“‘«]*$/u;

export interface Aligned extends Span {
  /** The words that both have, in their order. */
  readonly matches: readonly Match[];
}

interface Match {
  /** In the segment. */
  readonly spoken: Token;
  /** In the text. */
  readonly written: Token;
}

interface Token {
  readonly text: string;
  readonly at: number;
}

/**
 * Finds a segment in the text that it was made of. That may have Markdown between the words, and a lexicon may have replaced
 * some of them: the alignment with the most equal words counts.
 * @param from the segment stands after it
 * @returns UTF-16 units; start and end are the same if no word is found
 */
export function alignedIn(text: string, segment: string, from: number): Aligned {
  const begin = afterSpace(text, from);
  if (text.startsWith(segment, begin)) return asItStands(segment, begin);
  const seen = text.slice(begin, begin + 3 * segment.length + SIGHT);
  const found = bestOf(tokensOf(segment), tokensOf(seen.replace(ADDRESS, (it) => ' '.repeat(it.length))));
  const [first, last] = [found[0]?.written, found.at(-1)?.written];
  if (!first || !last) return { start: begin, end: begin, matches: [] };
  const end = begin + last.at + last.text.length;
  CLOSING.lastIndex = end;
  const opening = OPENING.exec(text.slice(begin, begin + first.at))?.[0].length ?? 0;
  return {
    start: begin + first.at - opening,
    end: end + (CLOSING.exec(text)?.[0].length ?? 0),
    matches: found.map(({ spoken, written }) => ({
      spoken,
      written: { ...written, at: begin + written.at },
    })),
  };
}

function asItStands(segment: string, start: number): Aligned {
  return {
    start,
    end: start + segment.length,
    get matches() {
      return tokensOf(segment).map((spoken) => ({ spoken, written: { ...spoken, at: start + spoken.at } }));
    },
  };
}

function afterSpace(text: string, from: number): number {
  const next = /[^\s\uFDD2]/gu;
  next.lastIndex = from;
  return next.exec(text)?.index ?? text.length;
}

function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(TOKENS)].map(({ 0: token, index }) => ({ text: token, at: index }));
}

/** The tokens that both have, in the best alignment of the two (Needleman and Wunsch, with free ends). */
function bestOf(spoken: readonly Token[], written: readonly Token[]): readonly Match[] {
  const width = written.length + 1;
  const scores = scoresOf(spoken, written);
  const scoreAt = (row: number, column: number) => scores[row * width + column] ?? 0;
  const ends = scores.subarray(spoken.length * width);
  let column = ends.indexOf(ends.reduce((best, each) => Math.max(best, each)));
  const matches: Match[] = [];
  for (let row = spoken.length; row > 0 && column > 0; ) {
    const score = scoreAt(row, column);
    if (score === scoreAt(row - 1, column)) row -= 1;
    else if (score === Math.fround(scoreAt(row, column - 1) - GAP)) column -= 1;
    else {
      row -= 1;
      column -= 1;
      const [said, token] = [spoken[row], written[column]];
      if (said && token) matches.push({ spoken: said, written: token });
    }
  }
  return matches.reverse();
}

/** The value of the best alignment of each two beginnings, row by row; a row is a number of spoken tokens. */
function scoresOf(spoken: readonly Token[], written: readonly Token[]): Float32Array {
  const width = written.length + 1;
  const scores = new Float32Array((spoken.length + 1) * width);
  const worth = written.map(({ text }) => (/[\p{L}\p{N}]/u.test(text) ? text.length : MARK));
  for (let column = 1; column < width; column += 1) scores[column] = -GAP * column;
  for (const [row, { text }] of spoken.entries())
    for (let column = 1, at = (row + 1) * width + 1; column < width; column += 1, at += 1) {
      const without = Math.max(scores[at - width] ?? 0, (scores[at - 1] ?? 0) - GAP);
      const isSame = text === written[column - 1]?.text;
      scores[at] = isSame
        ? Math.max(without, (scores[at - width - 1] ?? 0) + (worth[column - 1] ?? 0))
        : without;
    }
  return scores;
}
