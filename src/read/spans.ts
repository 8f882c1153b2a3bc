/** Sentences of a document of a book, wrapped in elements that something can refer to. Nothing else of it changes. */
import { Parser } from 'htmlparser2';
import { alignedIn } from '../text/places.ts';
import {
  type Attributes,
  BLOCKS,
  isSilent,
  localName,
  meaningsOf,
  saysNote,
  UNSHOWN_IN_SVG,
} from './html-elements.ts';

export interface Spoken {
  /** As it stands in the document, as far as its reader keeps that. */
  readonly written: string;
  /** UTF-16 units of the document in front of the text of the block that it begins in. */
  readonly at: number;
}

/** An element around a sentence, or a part of one. */
export interface Target {
  readonly id: string;
  /** UTF-16 units of its text. */
  readonly length: number;
  /** What the book calls the part that it is in. */
  readonly type: string | undefined;
}

export interface Spanned {
  readonly text: string;
  /** For each sentence; none for one that is not found, such as the description of a picture. */
  readonly targets: readonly (readonly Target[])[];
}

/**
 * @param sentences in the order in which they are spoken
 * @param head what goes to the end of the head
 */
export function withSpans(document: string, sentences: readonly Spoken[], head: string): Spanned {
  const page = new Page(document);
  const id = freePrefix(document);
  const edits: Edit[] = page.headEnd === undefined ? [] : [{ at: page.headEnd, text: head, order: 0 }];
  let count = 0;
  const targets = placesOf(page, sentences).map((place) =>
    (place ? page.partsOf(place.start, place.end) : []).map(({ start, end, length, type, element }) => {
      count += 1;
      const name = `${id}${count}`;
      edits.push({ at: start, text: `<${element} id="${name}">`, order: 2 * count });
      edits.push({ at: end, text: `</${element}>`, order: 2 * count + 1 });
      return { id: name, length, type };
    }),
  );
  return { text: edited(document, edits), targets };
}

/** A part of the text of a page. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Where the sentences are, none of them inside of another. A block is searched for its own sentences alone. */
function placesOf(page: Page, sentences: readonly Spoken[]): readonly (Range | undefined)[] {
  const places: (Range | undefined)[] = [];
  const notes = new NotesElsewhere(page);
  let cursor = 0;
  for (const block of blocksOf(sentences)) {
    const start = Math.max(cursor, page.placeOf(block.at));
    const end = block.next === undefined ? page.text.length : page.placeOf(block.next);
    const found = block.isBehind
      ? []
      : inBlock(page.textAround(start), block.sentences, { start, end: Math.max(start, end) });
    cursor = found.findLast((place) => place !== undefined)?.end ?? start;
    for (const [at, written] of block.sentences.entries()) places.push(found[at] ?? notes.find(written));
  }
  return apart(places);
}

interface SpokenBlock {
  readonly at: number;
  /** That of the next one. */
  readonly next: number | undefined;
  readonly sentences: readonly string[];
  /** A block behind it was read before, as in a document that is read twice. */
  readonly isBehind: boolean;
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
    const isBehind = furthest !== undefined && at <= furthest.at;
    const block = { at, next: undefined, sentences: [written], isBehind };
    blocks.push(block);
    if (isBehind) continue;
    if (furthest) furthest.next = at;
    furthest = block;
  }
  return blocks;
}

/** A sentence is found if so much of its words is. */
const ENOUGH = 0.5;
/** What stands for sentences in other words, such as the base of a ruby or a number, is at most so many times as long. */
const LONGEST_OTHER = 4;

/** Sentences that are not found are what stands between two others that are, and the first of them gets all of it. */
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
  return found > 0 && found >= ENOUGH * written.replace(/\s+/gu, '').length;
}

/** Without the white space around it. */
function trimmed(text: string, from: number, to: number): Range {
  const part = text.slice(from, to);
  const start = from + part.length - part.trimStart().length;
  return { start, end: Math.max(start, from + part.trimEnd().length) };
}

/** Notes that are looked at for a sentence. */
const MOST_NOTES = 4;

/** The notes of a page, of which some are read where they are referred to, in their order. */
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

/** Without those that overlap with one before them. */
function apart(places: readonly (Range | undefined)[]): readonly (Range | undefined)[] {
  const kept = new Set<Range>();
  let end = 0;
  for (const place of places.filter((each) => each !== undefined).toSorted((a, b) => a.start - b.start)) {
    if (place.start < end || place.end <= place.start) continue;
    kept.add(place);
    end = place.end;
  }
  return places.map((place) => (place && kept.has(place) ? place : undefined));
}

/** @returns the beginning of names that the document does not have */
export function freePrefix(document: string): string {
  const taken = new Set([...document.matchAll(/["']tts(\d{0,9})-/gu)].map(([, number]) => number));
  let number = 0;
  while (taken.has(number === 0 ? '' : String(number))) number += 1;
  return number === 0 ? 'tts-' : `tts${number}-`;
}

export interface Edit {
  readonly at: number;
  /** Of what the text replaces. */
  readonly end?: number;
  readonly text: string;
  /** Of two in one place, the lower one comes first. */
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
  /** In the text. */
  readonly from: number;
  readonly length: number;
  /** In the document. */
  readonly start: number;
  readonly end: number;
  /** Runs of one number have no tag between them. */
  readonly node: number;
  readonly type: string | undefined;
  readonly element: string | undefined;
}

interface Part {
  readonly start: number;
  readonly end: number;
  readonly length: number;
  readonly type: string | undefined;
  /** What can be around it. */
  readonly element: string;
}

interface Tag {
  readonly at: number;
  readonly end: number;
  readonly opens: boolean;
  readonly isBlock: boolean;
  /** What can be around it and its end. */
  readonly element: string | undefined;
}

/** What is not text here, besides what is silent elsewhere. */
const HIDDEN: ReadonlySet<string> = new Set(['head', 'rt', 'math']);
const NOTES: ReadonlySet<string> = new Set(['footnote', 'endnote', 'rearnote']);
/** Parts that a reader can skip. */
const SKIPPABLE: ReadonlySet<string> = new Set([...NOTES, 'noteref', 'sidebar']);

/** What holds for the text in an element. */
interface Around {
  readonly isHidden: boolean;
  readonly type: string | undefined;
  /** What can be around a part of it, with its prefix. */
  readonly element: string | undefined;
}

/** In a drawing, only its text can have an element around a part of it. */
function elementIn(name: string, prefix: string, around: string | undefined): string | undefined {
  if (name === 'html') return `${prefix}span`;
  if (name === 'svg') return undefined;
  return name === 'text' && around === undefined ? `${prefix}tspan` : around;
}

/** A part of a run. */
type Piece = Omit<Part, 'element'> & Pick<Run, 'node' | 'element'>;

function isWrapped(piece: Piece): piece is Piece & Part {
  return piece.element !== undefined;
}

function cutOut(run: Run, from: number, to: number): Piece {
  const isAsWritten = run.length === run.end - run.start;
  const [first, last] = [Math.max(0, from - run.from), Math.min(run.length, to - run.from)];
  const start = isAsWritten ? run.start + first : run.start;
  const end = isAsWritten ? run.start + last : run.end;
  const { node, type, element } = run;
  return { start, end, length: last - first, node, type, element };
}

/** Elements around a sentence that are taken in. */
const MOST_WIDENED = 8;

/** The text of a document, and where each character of it comes from. */
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

  /** Ranges of the text. */
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

  /** The text, with blanks in place of notes unless it is a note that stands here. */
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
      type: type ?? (saysNote(name, attributes, meanings) ? 'footnote' : around.type),
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

  /** For the parser, `</p  >` ends with its name, and what follows begins there. */
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

  /** From a place of the document to one of the text. */
  placeOf(at: number): number {
    const run = this.#runs[firstOf(this.#runs, ({ end }) => end > at)];
    return run ? run.from + Math.max(0, Math.min(run.length, at - run.start)) : this.text.length;
  }

  /** What has to be wrapped: all of it if elements in it end in it, and otherwise the text in each element. */
  partsOf(from: number, to: number): readonly Part[] {
    const parts: Piece[] = [];
    const isAfter = (run: Run) => run.from + run.length > from;
    for (let at = firstOf(this.#runs, isAfter); at < this.#runs.length; at += 1) {
      const run = this.#runs[at];
      if (!run || run.from >= to) break;
      const part = cutOut(run, from, to);
      const last = parts.at(-1);
      if (last?.node === part.node)
        parts[parts.length - 1] = { ...last, end: part.end, length: last.length + part.length };
      else parts.push(part);
    }
    const inked = parts.filter(({ start, end }) => this.#has(/\S/u, start, end));
    const [first, last] = [inked[0], inked.at(-1)];
    if (!first || !last) return [];
    const length = inked.reduce((sum, part) => sum + part.length, 0);
    const whole = this.#balanced({ ...first, end: last.end });
    if (whole) return [{ ...whole, length, type: first.type }];
    const wrapped = inked.filter(isWrapped);
    const worded = wrapped.filter(
      ({ start, end, type }) => type !== 'noteref' && this.#has(/[\p{L}\p{N}]/u, start, end),
    );
    return worded.length > 0 ? worded : wrapped;
  }

  #has(pattern: RegExp, start: number, end: number): boolean {
    const [from, to] = [this.placeOf(start), this.placeOf(end)];
    return pattern.test(this.text.slice(from, Math.max(to, from + 1)));
  }

  /** @returns what can be wrapped as one: elements that begin or end right beside it are taken in */
  #balanced(
    piece: Pick<Piece, 'start' | 'end' | 'element'>,
  ): Pick<Part, 'start' | 'end' | 'element'> | undefined {
    let { start, end, element } = piece;
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

  /** How deep the elements in a part are open at its end, and at the least; without an end for a part with blocks. */
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

/** The number of the first item for which this is true, as it is for all after it. */
function firstOf<T>(items: readonly T[], isAfter: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
