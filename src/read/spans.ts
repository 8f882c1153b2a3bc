/** Sentences of a document of a book, wrapped in elements that something can refer to. Nothing else of it changes. */
import { Parser } from 'htmlparser2';
import { alignedIn } from '../text/places.ts';
import { BLOCKS, localName, meaningsOf } from './html-elements.ts';

export interface Spoken {
  /** As it stands in the document, as far as its reader keeps that. */
  readonly written: string;
  /** UTF-16 units of the document in front of the block that it begins in. */
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

/** A sentence is found if so much of its words is. */
const ENOUGH = 0.5;

/**
 * @param sentences in the order in which they are spoken
 * @param head what goes to the end of the head
 */
export function withSpans(document: string, sentences: readonly Spoken[], head: string): Spanned {
  const page = new Page(document);
  const id = freeId(document);
  const edits: Edit[] = page.headEnd === undefined ? [] : [{ at: page.headEnd, text: head, order: 0 }];
  let cursor = 0;
  let count = 0;
  const targets = sentences.map(({ written, at }) => {
    const found = [Math.max(cursor, page.placeOf(at)), cursor]
      .map((from) => alignedIn(page.text, written, from))
      .find(({ matches }) => isEnough(written, matches));
    if (!found) return [];
    cursor = found.end;
    return page.partsOf(found.start, found.end).map(({ start, end, length, type }) => {
      count += 1;
      const name = `${id}${count}`;
      edits.push({ at: start, text: `<${page.prefix}span id="${name}">`, order: 2 * count });
      edits.push({ at: end, text: `</${page.prefix}span>`, order: 2 * count + 1 });
      return { id: name, length, type };
    });
  });
  return { text: edited(document, edits), targets };
}

function isEnough(
  written: string,
  matches: readonly { readonly spoken: { readonly text: string } }[],
): boolean {
  const found = matches.reduce((sum, { spoken }) => sum + spoken.text.length, 0);
  return found > 0 && found >= ENOUGH * written.replace(/\s+/gu, '').length;
}

/** @returns the beginning of names that the document does not have */
function freeId(document: string): string {
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
}

interface Part {
  readonly start: number;
  readonly end: number;
  readonly length: number;
  readonly type: string | undefined;
}

interface Tag {
  readonly at: number;
  readonly end: number;
  readonly opens: boolean;
  readonly isBlock: boolean;
}

const HIDDEN: ReadonlySet<string> = new Set(['head', 'script', 'style', 'template', 'rt', 'rp']);
/** Parts that a reader can skip. */
const SKIPPABLE: ReadonlySet<string> = new Set([
  'footnote',
  'endnote',
  'rearnote',
  'noteref',
  'pagebreak',
  'sidebar',
]);

/** Elements around a sentence that are taken in. */
const MOST_WIDENED = 8;

/** The text of a document, and where each character of it comes from. */
class Page {
  readonly #document: string;
  readonly #runs: Run[] = [];
  readonly #tags: Tag[] = [];
  #node = 0;
  #hidden = 0;
  readonly #types: (string | undefined)[] = [];
  text = '';
  headEnd: number | undefined;
  /** That of the elements of XHTML, with its colon. */
  prefix = '';

  constructor(document: string) {
    this.#document = document;
    const parser: Parser = new Parser(
      {
        onopentag: (name, attributes) => this.#open(name, attributes, parser),
        onclosetag: (name, isImplied) => this.#close(name, isImplied, parser),
        ontext: (text) => this.#add(text, parser.startIndex, parser.endIndex + 1),
      },
      { recognizeSelfClosing: true, recognizeCDATA: true, lowerCaseTags: false },
    );
    parser.end(document);
  }

  #open(tag: string, attributes: Readonly<Record<string, string>>, parser: Parser): void {
    const name = localName(tag).toLowerCase();
    if (name === 'html' && tag.includes(':')) this.prefix = tag.slice(0, tag.indexOf(':') + 1);
    if (HIDDEN.has(name)) this.#hidden += 1;
    this.#types.push(meaningsOf(attributes).find((meaning) => SKIPPABLE.has(meaning)) ?? this.#types.at(-1));
    this.#tag(name, parser, true);
  }

  #close(tag: string, isImplied: boolean, parser: Parser): void {
    const name = localName(tag).toLowerCase();
    if (HIDDEN.has(name)) this.#hidden -= 1;
    if (name === 'head' && !isImplied) this.headEnd = parser.startIndex;
    this.#types.pop();
    this.#tag(name, parser, false);
  }

  #tag(name: string, { startIndex, endIndex }: Parser, opens: boolean): void {
    const at = this.#from(startIndex);
    const isCut = !opens && this.#document.startsWith('</', at);
    const end = isCut ? this.#document.indexOf('>', endIndex) : endIndex;
    const isBlock = BLOCKS.has(name) || name === 'br' || name === 'body';
    this.#tags.push({ at, end: Math.max(end, endIndex) + 1, opens, isBlock });
    this.#node += 1;
    if (isBlock && !this.text.endsWith('\n')) this.text += '\n';
  }

  /** For the parser, `</p  >` ends with its name, and what follows begins there. */
  #from(startIndex: number): number {
    const last = this.#tags.at(-1);
    return last && last.at < startIndex && startIndex < last.end ? last.end : startIndex;
  }

  #add(text: string, startIndex: number, end: number): void {
    if (this.#hidden > 0) return;
    const start = this.#from(startIndex);
    const run = { from: this.text.length, length: text.length, start, end };
    this.#runs.push({ ...run, node: this.#node, type: this.#types.at(-1) });
    this.text += text;
  }

  /** From a place of the document to one of the text. */
  placeOf(at: number): number {
    const run = this.#runs[firstOf(this.#runs, ({ end }) => end > at)];
    return run ? run.from + Math.max(0, Math.min(run.length, at - run.start)) : this.text.length;
  }

  /** What has to be wrapped: all of it if elements in it end in it, and otherwise the text in each element. */
  partsOf(from: number, to: number): readonly Part[] {
    const parts: (Part & { readonly node: number })[] = [];
    const isAfter = (run: Run) => run.from + run.length > from;
    for (let at = firstOf(this.#runs, isAfter); at < this.#runs.length; at += 1) {
      const run = this.#runs[at];
      if (!run || run.from >= to) break;
      const part = this.#cut(run, from, to);
      const last = parts.at(-1);
      if (last?.node === part.node)
        parts[parts.length - 1] = { ...last, end: part.end, length: last.length + part.length };
      else parts.push(part);
    }
    const inked = parts.filter(({ start, end }) => this.#has(/\S/u, start, end));
    const [first, last] = [inked[0], inked.at(-1)];
    if (!first || !last) return [];
    const length = inked.reduce((sum, part) => sum + part.length, 0);
    const whole = this.#balanced(first.start, last.end);
    if (whole) return [{ ...whole, length, type: first.type }];
    const worded = inked.filter(
      ({ start, end, type }) =>
        type !== 'noteref' && type !== 'pagebreak' && this.#has(/[\p{L}\p{N}]/u, start, end),
    );
    return worded.length > 0 ? worded : inked;
  }

  #cut(run: Run, from: number, to: number): Part & { readonly node: number } {
    const isAsWritten = run.length === run.end - run.start;
    const [first, last] = [Math.max(0, from - run.from), Math.min(run.length, to - run.from)];
    const start = isAsWritten ? run.start + first : run.start;
    const end = isAsWritten ? run.start + last : run.end;
    return { start, end, length: last - first, node: run.node, type: run.type };
  }

  #has(pattern: RegExp, start: number, end: number): boolean {
    const [from, to] = [this.placeOf(start), this.placeOf(end)];
    return pattern.test(this.text.slice(from, Math.max(to, from + 1)));
  }

  /** @returns what can be wrapped as one: elements that begin or end right beside it are taken in */
  #balanced(from: number, to: number): { readonly start: number; readonly end: number } | undefined {
    let [start, end] = [from, to];
    for (let widened = 0; widened <= MOST_WIDENED; widened += 1) {
      const { lowest, depth } = this.#depths(start, end);
      if (lowest === 0 && depth === 0) return { start, end };
      const before = this.#tags[this.#firstTag(start) - 1];
      const after = this.#tags[this.#firstTag(end)];
      if (lowest < 0 && before?.opens && !before.isBlock && before.end === start) start = before.at;
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
