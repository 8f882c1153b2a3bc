/**
 * Wraps the spoken sentences of a book's document in elements that overlays can refer to. Everything else stays unchanged.
 */

import { Parser } from 'htmlparser2';
import { alignedIn } from '../text/places.ts';
import { inkOf } from '../text/unicode.ts';
import {
  type Attributes,
  BLOCKS,
  declaresNote,
  isSilent,
  localName,
  meaningsOf,
  UNSHOWN_IN_SVG,
} from './html-elements.ts';

export interface Spoken {
  /** The text as the document has it, as far as its reader keeps that. */
  readonly written: string;
  /** The offset of the text of the sentence's block in the document, in UTF-16 units. */
  readonly at: number;
}

/** An element around a sentence or a part of it. */
export interface Target {
  readonly id: string;
  /** UTF-16 units of the element's text. */
  readonly length: number;
  /** The book's type for the part around the element. */
  readonly type: string | undefined;
}

export interface Spanned {
  readonly text: string;
  /** The elements of each sentence; none for a sentence that is not found, such as the description of a picture. */
  readonly targets: readonly (readonly Target[])[];
}

/**
 * @param sentences in spoken order
 * @param head inserted at the end of the document's head
 */
export function withSpans(document: string, sentences: readonly Spoken[], head: string): Spanned {
  const page = new Page(document);
  const id = freePrefix(document);
  const edits: Edit[] = page.headEnd === undefined ? [] : [{ at: page.headEnd, text: head, order: 0 }];
  let count = 0;
  const targets = placesOf(page, sentences).map((place) =>
    (place ? page.rangesToWrap(place.start, place.end) : []).map(({ start, end, length, type, element }) => {
      count += 1;
      const name = `${id}${count}`;
      edits.push({ at: start, text: `<${element} id="${name}">`, order: 2 * count });
      edits.push({ at: end, text: `</${element}>`, order: 2 * count + 1 });
      return { id: name, length, type };
    }),
  );
  return { text: edited(document, edits), targets };
}

/** A range of a page's text. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Locates the sentences without overlaps. Each sentence is searched in its own block only. */
function placesOf(page: Page, sentences: readonly Spoken[]): readonly (Range | undefined)[] {
  const places: (Range | undefined)[] = [];
  const notes = new NotesElsewhere(page);
  let cursor = 0;
  for (const block of blocksOf(sentences)) {
    const start = Math.max(cursor, page.placeOf(block.at));
    const end = block.next === undefined ? page.text.length : page.placeOf(block.next);
    const found = block.isOutOfOrder
      ? []
      : inBlock(page.textAround(start), block.sentences, { start, end: Math.max(start, end) });
    cursor = found.findLast((place) => place !== undefined)?.end ?? start;
    for (const [at, written] of block.sentences.entries()) places.push(found[at] ?? notes.find(written));
  }
  return withoutOverlaps(places);
}

interface SpokenBlock {
  readonly at: number;
  /** The start of the next block. */
  readonly next: number | undefined;
  readonly sentences: readonly string[];
  /** True if a later block came before, as in a document that is read twice. */
  readonly isOutOfOrder: boolean;
}

function blocksOf(sentences: readonly Spoken[]): readonly SpokenBlock[] {
  const blocks: (SpokenBlock & { sentences: string[]; next: number | undefined })[] = [];
  let furthest: (typeof blocks)[number] | undefined;
  for (const { written, at } of sentences) {
    const last = blocks.at(-1);
    if (last?.at === at) {
      last.sentences.push(written);
      continue;
    }
    const isOutOfOrder = furthest !== undefined && at <= furthest.at;
    const block = { at, next: undefined, sentences: [written], isOutOfOrder };
    blocks.push(block);
    if (isOutOfOrder) continue;
    if (furthest) furthest.next = at;
    furthest = block;
  }
  return blocks;
}

/** The share of a sentence's words that must be found. */
const ENOUGH = 0.5;
/** Text in place of unfound sentences, such as the base of a ruby or a number, is at most this many times as long. */
const LONGEST_OTHER = 4;

/** Assigns the text between two found sentences to the first of the unfound ones between them. */
function inBlock(text: string, sentences: readonly string[], { start, end }: Range): (Range | undefined)[] {
  const last = trimmed(text, start, end).end;
  const block = text.slice(0, last);
  let cursor = start;
  const places = sentences.map((written) => {
    const { matches, ...place } = alignedIn(block, written, cursor);
    if (!isEnough(written, matches)) return undefined;
    cursor = place.end;
    return place;
  });
  let [from, lost, length] = [start, -1, 0];
  const fill = (to: number) => {
    const other = trimmed(block, from, to);
    if (lost >= 0 && other.end - other.start <= LONGEST_OTHER * length)
      places[lost] = /\p{L}/u.test(block.slice(other.start, other.end)) ? other : undefined;
    [lost, length] = [-1, 0];
  };
  for (const [at, place] of places.entries()) {
    if (place) {
      fill(place.start);
      from = place.end;
    } else {
      lost = lost < 0 ? at : lost;
      length += sentences[at]?.length ?? 0;
    }
  }
  fill(last);
  return places;
}

function isEnough(
  written: string,
  matches: readonly { readonly spoken: { readonly text: string } }[],
): boolean {
  const found = matches.reduce((sum, { spoken }) => sum + spoken.text.length, 0);
  return found > 0 && found >= ENOUGH * inkOf(written);
}

/** Returns the range without the white space around it. */
function trimmed(text: string, from: number, to: number): Range {
  const part = text.slice(from, to);
  const start = from + part.length - part.trimStart().length;
  return { start, end: Math.max(start, from + part.trimEnd().length) };
}

/** Notes that are searched for a sentence. */
const MOST_NOTES = 4;

/** Finds notes that were read at their reference, in the order of the page. */
class NotesElsewhere {
  readonly #text: string;
  readonly #notes: readonly Range[];
  #number = 0;
  #cursor = 0;

  constructor({ text, notes }: Page) {
    this.#text = text;
    this.#notes = notes;
  }

  find(written: string): Range | undefined {
    for (let at = this.#number; at < this.#number + MOST_NOTES && at < this.#notes.length; at += 1) {
      const { start = 0, end } = this.#notes[at] ?? {};
      const { matches, ...place } = alignedIn(
        this.#text.slice(0, end),
        written,
        Math.max(start, this.#cursor),
      );
      if (!isEnough(written, matches)) continue;
      [this.#number, this.#cursor] = [at, place.end];
      return place;
    }
    return undefined;
  }
}

/** Drops ranges that overlap an earlier one. */
function withoutOverlaps(places: readonly (Range | undefined)[]): readonly (Range | undefined)[] {
  const kept = new Set<Range>();
  let end = 0;
  for (const place of places.filter((each) => each !== undefined).toSorted((a, b) => a.start - b.start)) {
    if (place.start < end || place.end <= place.start) continue;
    kept.add(place);
    end = place.end;
  }
  return places.map((place) => (place && kept.has(place) ? place : undefined));
}

/** @returns a prefix for ids that the document does not use */
export function freePrefix(document: string): string {
  const taken = new Set([...document.matchAll(/["']tts(\d{0,9})-/gu)].map(([, number]) => number));
  let number = 0;
  while (taken.has(number === 0 ? '' : String(number))) number += 1;
  return number === 0 ? 'tts-' : `tts${number}-`;
}

export interface Edit {
  readonly at: number;
  /** The end of the text to replace; by default, nothing is replaced. */
  readonly end?: number;
  readonly text: string;
  /** At the same place, lower numbers come first. */
  readonly order: number;
}

export function edited(document: string, edits: readonly Edit[]): string {
  let last = 0;
  const parts: string[] = [];
  for (const { at, end = at, text } of edits.toSorted((a, b) => a.at - b.at || a.order - b.order)) {
    parts.push(document.slice(last, at), text);
    last = Math.max(last, end);
  }
  return [...parts, document.slice(last)].join('');
}

/** Characters of the text that come from one place of the document. */
interface Run {
  /** The start in the text. */
  readonly from: number;
  readonly length: number;
  /** The start in the document. */
  readonly start: number;
  readonly end: number;
  /** Equal for runs without a tag between them. */
  readonly node: number;
  readonly type: string | undefined;
  readonly element: string | undefined;
}

interface Wrappable {
  readonly start: number;
  readonly end: number;
  readonly length: number;
  readonly type: string | undefined;
  /** The element that may wrap it. */
  readonly element: string;
}

interface Tag {
  readonly at: number;
  readonly end: number;
  readonly opens: boolean;
  readonly isBlock: boolean;
  /** The element that may wrap the tag's element. */
  readonly element: string | undefined;
}

/** Elements without text here, in addition to silent ones. */
const HIDDEN: ReadonlySet<string> = new Set(['head', 'rt', 'math']);
const NOTES: ReadonlySet<string> = new Set(['footnote', 'endnote', 'rearnote']);
/** Types of parts that an e-book reader can skip. */
const SKIPPABLE: ReadonlySet<string> = new Set([...NOTES, 'noteref', 'sidebar']);

/** What applies to the text in an element. */
interface Around {
  readonly isHidden: boolean;
  readonly type: string | undefined;
  /** The element that may wrap a part of the text, with its prefix. */
  readonly element: string | undefined;
}

/** Returns the element that may wrap text in this one. In a drawing, only `text` elements allow it. */
function elementIn(name: string, prefix: string, around: string | undefined): string | undefined {
  if (name === 'html') return `${prefix}span`;
  if (name === 'svg') return undefined;
  return name === 'text' && around === undefined ? `${prefix}tspan` : around;
}

/** A slice of a run. */
type Slice = Omit<Wrappable, 'element'> & Pick<Run, 'node' | 'element'>;

function isWrappable(slice: Slice): slice is Slice & Wrappable {
  return slice.element !== undefined;
}

function cutOut(run: Run, from: number, to: number): Slice {
  const isAsWritten = run.length === run.end - run.start;
  const [first, last] = [Math.max(0, from - run.from), Math.min(run.length, to - run.from)];
  const start = isAsWritten ? run.start + first : run.start;
  const end = isAsWritten ? run.start + last : run.end;
  const { node, type, element } = run;
  return { start, end, length: last - first, node, type, element };
}

/** Elements around a sentence that its wrapper may enclose as well. */
const MOST_WIDENED = 8;

/** The text of a document, and where each character comes from. */
class Page {
  readonly #document: string;
  readonly #runs: Run[] = [];
  readonly #tags: Tag[] = [];
  #node = 0;
  readonly #open: Around[] = [];
  #main: string | undefined;
  text = '';
  headEnd: number | undefined;

  constructor(document: string) {
    this.#document = document;
    const parser: Parser = new Parser(
      {
        onopentag: (name, attributes) => this.#enter(name, attributes, parser),
        onclosetag: (name, isImplied) => this.#leave(name, isImplied, parser),
        ontext: (text) => this.#add(text, parser.startIndex, parser.endIndex + 1),
      },
      { recognizeSelfClosing: true, recognizeCDATA: true, lowerCaseTags: false },
    );
    parser.end(document);
  }

  /** The ranges of notes in the text. */
  get notes(): readonly Range[] {
    const notes: { start: number; end: number }[] = [];
    let isNext = false;
    for (const { from, length, type = '' } of this.#runs) {
      const [isNote, last] = [NOTES.has(type), notes.at(-1)];
      if (isNote && isNext && last) last.end = from + length;
      else if (isNote) notes.push({ start: from, end: from + length });
      isNext = isNote;
    }
    return notes;
  }

  /** Returns the text with notes blanked out, unless the place is in a note. */
  textAround(at: number): string {
    const run = this.#runs[firstOf(this.#runs, ({ from, length }) => from + length > at)];
    if (NOTES.has(run?.type ?? '')) return this.text;
    this.#main ??= this.#withoutNotes();
    return this.#main;
  }

  #withoutNotes(): string {
    const parts: string[] = [];
    let last = 0;
    for (const { start, end } of this.notes) {
      parts.push(this.text.slice(last, start), ' '.repeat(end - start));
      last = end;
    }
    return [...parts, this.text.slice(last)].join('');
  }

  get #around(): Around {
    return this.#open.at(-1) ?? { isHidden: false, type: undefined, element: 'span' };
  }

  #enter(tag: string, attributes: Attributes, parser: Parser): void {
    const name = localName(tag).toLowerCase();
    const [around, meanings] = [this.#around, meaningsOf(attributes)];
    this.#tag(name, parser, true);
    const type = meanings.find((meaning) => SKIPPABLE.has(meaning));
    const isUnshown = around.element === undefined && UNSHOWN_IN_SVG.has(name);
    this.#open.push({
      isHidden: around.isHidden || HIDDEN.has(name) || isUnshown || isSilent(name, attributes, meanings),
      type: type ?? (declaresNote(name, attributes, meanings) ? 'footnote' : around.type),
      element: elementIn(name, tag.slice(0, tag.indexOf(':') + 1), around.element),
    });
  }

  #leave(tag: string, isImplied: boolean, parser: Parser): void {
    const name = localName(tag).toLowerCase();
    if (name === 'head' && !isImplied) this.headEnd = parser.startIndex;
    this.#open.pop();
    this.#tag(name, parser, false);
  }

  #tag(name: string, { startIndex, endIndex }: Parser, opens: boolean): void {
    const { element } = this.#around;
    const at = this.#from(startIndex);
    const isCut = !opens && this.#document.startsWith('</', at);
    const end = isCut ? this.#document.indexOf('>', endIndex) : endIndex;
    const isBlock = BLOCKS.has(name) || name === 'br' || name === 'body';
    this.#tags.push({ at, end: Math.max(end, endIndex) + 1, opens, isBlock, element });
    this.#node += 1;
    if (isBlock && !this.text.endsWith('\n')) this.text += '\n';
  }

  /** The parser ends `</p  >` after its name, and begins the next event there. */
  #from(startIndex: number): number {
    const last = this.#tags.at(-1);
    return last && last.at < startIndex && startIndex < last.end ? last.end : startIndex;
  }

  #add(text: string, startIndex: number, end: number): void {
    const { isHidden, type, element } = this.#around;
    if (isHidden) return;
    const start = this.#from(startIndex);
    const run = { from: this.text.length, length: text.length, start, end };
    this.#runs.push({ ...run, node: this.#node, type, element });
    this.text += text;
  }

  /** Converts an offset in the document into one in the text. */
  placeOf(at: number): number {
    const run = this.#runs[firstOf(this.#runs, ({ end }) => end > at)];
    return run ? run.from + Math.max(0, Math.min(run.length, at - run.start)) : this.text.length;
  }

  /** Returns what to wrap: the whole range if its elements begin and end in it, otherwise the text of each element. */
  rangesToWrap(from: number, to: number): readonly Wrappable[] {
    const slices: Slice[] = [];
    const isAfter = (run: Run) => run.from + run.length > from;
    for (let at = firstOf(this.#runs, isAfter); at < this.#runs.length; at += 1) {
      const run = this.#runs[at];
      if (!run || run.from >= to) break;
      const slice = cutOut(run, from, to);
      const last = slices.at(-1);
      if (last?.node === slice.node)
        slices[slices.length - 1] = { ...last, end: slice.end, length: last.length + slice.length };
      else slices.push(slice);
    }
    const inked = slices.filter(({ start, end }) => this.#has(/\S/u, start, end));
    const [first, last] = [inked[0], inked.at(-1)];
    if (!first || !last) return [];
    const length = inked.reduce((sum, slice) => sum + slice.length, 0);
    const whole = this.#balanced({ ...first, end: last.end });
    if (whole) return [{ ...whole, length, type: first.type }];
    const wrapped = inked.filter(isWrappable);
    const worded = wrapped.filter(
      ({ start, end, type }) => type !== 'noteref' && this.#has(/[\p{L}\p{N}]/u, start, end),
    );
    return worded.length > 0 ? worded : wrapped;
  }

  #has(pattern: RegExp, start: number, end: number): boolean {
    const [from, to] = [this.placeOf(start), this.placeOf(end)];
    return pattern.test(this.text.slice(from, Math.max(to, from + 1)));
  }

  /** @returns a range that can be wrapped as one: it may grow over elements that begin or end right beside it */
  #balanced(
    slice: Pick<Slice, 'start' | 'end' | 'element'>,
  ): Pick<Wrappable, 'start' | 'end' | 'element'> | undefined {
    let { start, end, element } = slice;
    for (let widened = 0; widened <= MOST_WIDENED; widened += 1) {
      const { lowest, depth } = this.#depths(start, end);
      if (lowest === 0 && depth === 0) return element === undefined ? undefined : { start, end, element };
      const before = this.#tags[this.#firstTag(start) - 1];
      const after = this.#tags[this.#firstTag(end)];
      if (lowest < 0 && before?.opens && !before.isBlock && before.end === start)
        [start, element] = [before.at, before.element];
      else if (depth > 0 && after && !after.opens && !after.isBlock && after.at === end) end = after.end;
      else return undefined;
    }
    return undefined;
  }

  /** Returns the depth of open elements at the end of a range, and the lowest on the way; NaN for a range with blocks. */
  #depths(start: number, end: number): { readonly lowest: number; readonly depth: number } {
    let [lowest, depth] = [0, 0];
    for (let number = this.#firstTag(start); number < this.#tags.length; number += 1) {
      const tag = this.#tags[number];
      if (!tag || tag.at >= end) break;
      if (tag.isBlock) return { lowest: 0, depth: Number.NaN };
      depth += tag.opens ? 1 : -1;
      lowest = Math.min(lowest, depth);
    }
    return { lowest, depth };
  }

  #firstTag(place: number): number {
    return firstOf(this.#tags, ({ at }) => at >= place);
  }
}

/** Returns the index of the first item for which this is true, given that it is true for all later ones. */
function firstOf<T>(items: readonly T[], isAfter: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
