import type { Segment, Silence, Span } from './segment.ts';
import { type Match, sharedTokens, type Token } from './shared-tokens.ts';
import type { Stage } from './stage.ts';
import { codePointsBefore, countCodePoints, countLineBreaks, lazy } from './unicode.ts';

/** Replaces each character that was removed, so that offsets stay. A Unicode noncharacter. */
const REMOVED = '\uFDD2';

/**
 * Finds where each segment is in the original texts of a run. Keeps only text after the last segment, at most eight million
 * UTF-16 units of it.
 * Segments are found by aligning words, whatever readers and stages have changed, so that none of them has to carry offsets.
 */
export class Places {
  /** A stage before the reader must write this for each character that it removes. */
  readonly filler = REMOVED;
  readonly #inputs = new Map<string, InputText>();

  /**
   * Returns a stage that records a text before its reader gets it.
   * @param passed code points of the source before the text
   */
  of(source: string, { characters } = { characters: 0 }): Stage<string, string> {
    const input = new InputText(characters);
    this.#inputs.set(source, input);
    return {
      push(text) {
        input.add(text);
        const left = text.replaceAll(REMOVED, '');
        return left === '' ? [] : [left];
      },
      end: () => [],
    };
  }

  /** Adds spans to segments, except those of documents that are not plain text, such as EPUB. */
  async *placing(segments: AsyncIterable<Segment | Silence>): AsyncGenerator<Segment | Silence> {
    for await (const each of segments) yield each.kind === 'silence' ? each : this.#placed(each);
  }

  #placed(segment: Segment): Segment {
    const { text, written, place } = segment;
    if (place.line === undefined) return segment;
    const found = this.#inputs.get(place.source)?.pass(written, place.line);
    if (!found) return segment;
    const offsets = lazy(() => toWritten({ text, written }));
    const inWritten = (at: number) => (text === written ? at : (offsets()[at] ?? written.length));
    const wordSpan: Segment['wordSpan'] = (at, length) => found.spanOf(inWritten(at), inWritten(at + length));
    return { ...segment, span: found.span, wordSpan };
  }
}

/** Where a segment is in the input. */
interface SegmentOrigin {
  readonly span: Span;
  /** Returns the span of a part, given in UTF-16 units of `written`; `undefined` if it is not in the input. */
  spanOf(from: number, to: number): Span | undefined;
}

/** @returns the offset in `written` for each in `text`; these differ in white space and invisible characters */
function toWritten({ text, written }: Pick<Segment, 'text' | 'written'>): Uint32Array {
  const offsets = new Uint32Array(text.length + 1).fill(written.length);
  const places = written.matchAll(INK);
  let from = 0;
  for (const { index } of text.matchAll(INK)) {
    offsets.fill(places.next().value?.index ?? written.length, from, index + 1);
    from = index + 1;
  }
  return offsets.fill(places.next().value?.index ?? written.length, from);
}

const INK = /[^\s\p{Cf}]/gu;

/** UTF-16 units to which the kept text is shortened when it is twice as long. */
const MOST_KEPT = 4 * 1024 * 1024;

class InputText {
  /** Text after the last segment. */
  #text = '';
  /** Code points of the source before `#text`. */
  #start: number;
  /** The line in which `#text` begins. */
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
    const matches = lazy(() => found.matches);
    const before = lazy(() => codePointsBefore(text));
    const inSource = (at: number) => start + (before()[at - found.start] ?? 0);
    const spanOf = (from: number, to: number) => {
      const first = firstIndex(matches(), ({ spoken }) => spoken.at + spoken.text.length > from);
      const last = firstIndex(matches(), ({ spoken }) => spoken.at >= to) - 1;
      const [begin, finish] = [matches()[first]?.written, matches()[last]?.written];
      if (first > last || !begin || !finish) return undefined;
      return { start: inSource(begin.at), end: inSource(finish.at + finish.text.length) };
    };
    return { span: { start, end }, spanOf };
  }

  /** Returns the offset of a line in `#text`; 0 for a line that began before it. */
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

/** @returns the index of the first item for which a condition holds that holds for all behind it, too */
function firstIndex<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** UTF-16 units that are searched for a segment, in addition to three times its length. */
const SEARCHED = 1000;

const TOKENS = /[\p{L}\p{M}\p{N}]+|[^\s\uFDD2]/gu;
/** The address of a Markdown link, which is not spoken. */
const ADDRESS = /(?<=\])\([^()\s]*(?:\s"[^"\n]*")?\)/gu;
const CLOSING = /(?:[*_`~)\]}"'”’»]|(?<=\])\([^()\s]*\))*/uy;
const OPENING = /[*_`~([{"'“‘«]*$/u;

export interface Aligned extends Span {
  /** The tokens that both texts share, in order. */
  readonly matches: readonly Match[];
}

/**
 * Finds a segment in the text that it was made from, by the alignment with the most equal words: the text may have Markdown
 * between the words, and a lexicon may have replaced some of them.
 * @param from where to begin the search
 * @returns UTF-16 units; start and end are equal if no word is found
 */
export function alignedIn(text: string, segment: string, from: number): Aligned {
  const begin = afterSpace(text, from);
  if (text.startsWith(segment, begin)) return exactMatch(segment, begin);
  const seen = text.slice(begin, begin + 3 * segment.length + SEARCHED);
  const written = tokensOf(seen.replace(ADDRESS, (it) => ' '.repeat(it.length)));
  const found = sharedTokens(tokensOf(segment), written);
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

function exactMatch(segment: string, start: number): Aligned {
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
