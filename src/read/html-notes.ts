import { inkOf } from '../text/unicode.ts';
import {
  type Attributes,
  BLOCKS,
  declaresNote,
  headingLevel,
  isNoteMark,
  isSilent,
  leadsBack,
  localName,
  meaningsOf,
  noteAfter,
} from './html-elements.ts';
import { Inline } from './html-inline.ts';
import { Markup, type MarkupHandler } from './html-parse.ts';

/** The notes of one document, for its reader. */
export interface Notes {
  /** True if the link leads to a note. */
  isReference(href: string): boolean;
  /** Returns the note to read at its first reference; `undefined` if it is not read here. */
  take(href: string): string | undefined;
  /** True if the element is a note, or a note begins in it. */
  isNote(id: string): boolean;
  /** The number of references whose notes were not read. */
  readonly skipped: number;
}

/** A block with an id. It is a note if a reference leads to it and it looks like one. */
interface Candidate {
  readonly text: string;
  /** True if the block, or one around it, declares itself a note. */
  readonly isNote: boolean;
  /** The ids that links in the block lead to. */
  readonly backTo: readonly string[];
}

/** A link that looks like a reference to a note. */
interface Link {
  readonly href: string;
  /** The text of the link, such as `1` or `*`. */
  label: string;
  /** The inline elements around the link, the link, and the elements in it. */
  readonly elements: Frame[];
  /** True if the link is inside the element that it leads to. */
  readonly isInTarget: boolean;
  readonly start: number;
  /** The number of open elements at the link. */
  readonly depth: number;
}

interface Frame {
  readonly name: string;
  readonly attributes: Attributes;
  readonly isBlock: boolean;
  readonly isHeading: boolean;
  readonly isNote: boolean;
  readonly start: number;
  /** Ids that lead to the block: its own, and those of elements at its beginning. */
  readonly ids: string[];
  readonly backTo: string[];
}

/** Arrows in links from a note back to its reference. */
const ARROWS = '↩↑⤴^\ufe0e\ufe0f';
const ARROWS_AT_END = new RegExp(`(?<![\\s${ARROWS}])[\\s${ARROWS}]+$`, 'u');
/** UTF-16 units. A longer block is not a note. */
const LONGEST_NOTE = 16_384;
/** Links per note that may lead back to its reference. */
const MOST_BACK = 1000;
/** UTF-16 units of all candidates. */
const MOST_KEPT = 8 * 1024 * 1024;
const MOST_LINKS = 50_000;

/** Notes of a document that has little else. */
const FEWEST_NOTES = 2;

/** Collects a document's possible notes and the links that may refer to notes. */
class NoteIndex implements MarkupHandler {
  /** The ids of all elements. */
  readonly ids = new Set<string>();
  readonly links: Link[] = [];
  readonly #candidates = new Map<string, Candidate>();
  readonly #frames: Frame[] = [];
  readonly #inline = new Inline();
  /** The number of open blocks with an id. */
  #named = 0;
  #link: Link | undefined;
  #silent = 0;
  #kept = 0;
  /** UTF-16 units of the text without white space. */
  #units = 0;

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    const names = namesOf({ name, attributes });
    for (const id of names) this.ids.add(id);
    const meanings = meaningsOf(attributes);
    const isBack = leadsBack(attributes, meanings);
    if (this.#silent > 0 || isBack || isSilent(name, attributes, meanings)) this.#silent += 1;
    const isBlock = BLOCKS.has(name);
    if (isBlock || name === 'br') this.#inline.text(' ');
    const above = this.#frames.at(-1);
    const frame: Frame = {
      name,
      attributes,
      isBlock,
      isHeading: above?.isHeading === true || headingLevel(name) !== undefined,
      isNote: above?.isNote === true || declaresNote(name, attributes, meanings),
      start: this.#inline.mark,
      ids: [],
      backTo: [],
    };
    this.#frames.push(frame);
    this.#addNames(names);
    if (name === 'a') this.#addLink(attributes);
    this.#link?.elements.push(frame);
  }

  text(text: string): void {
    if (this.#silent > 0) return;
    this.#units += inkOf(text);
    if (this.#named > 0 || this.#link) this.#inline.text(text);
  }

  close(): void {
    if (this.#link?.depth === this.#frames.length) this.#endLink(this.#link);
    if (this.#silent > 0) this.#silent -= 1;
    const frame = this.#frames.pop();
    if (!frame || frame.ids.length === 0) return;
    this.#named -= 1;
    const { isNote, isHeading, backTo, ids, start } = frame;
    const mayKeep = !isHeading && this.#kept < MOST_KEPT;
    const text = mayKeep ? this.#inline.from(start, LONGEST_NOTE) : undefined;
    if (text !== undefined) {
      const candidate = { text: text.replace(ARROWS_AT_END, ''), isNote, backTo };
      for (const id of ids) this.#candidates.set(id, candidate);
      this.#kept += text.length + ids.length;
    }
    if (this.#named === 0) this.#inline.take();
  }

  /**
   * True for a document of notes: they are a large part of its text, and other documents refer to them. The rest is the title, the
   * names of the chapters, and further paragraphs of notes.
   * @param isNote true for the id of a note
   */
  isOfNotes(isNote: (id: string) => boolean): boolean {
    const notes = new Set(
      [...this.#candidates].flatMap(([id, candidate]) => (isNote(id) ? [candidate] : [])),
    );
    const units = [...notes].reduce((sum, { text }) => sum + inkOf(text), 0);
    const isReferring = this.links.some(({ href }) => isNote(href.slice(href.indexOf('#') + 1)));
    return notes.size >= FEWEST_NOTES && !isReferring && 3 * units > this.#units;
  }

  /** @returns the note that a link leads to, without its number; `undefined` if it is not a note */
  find(id: string, { label, elements }: Link): string | undefined {
    const candidate = this.#candidates.get(id);
    if (!candidate) return undefined;
    const { text, isNote, backTo } = candidate;
    const unlabelled = withoutLabel(text, label);
    const isMeant =
      isNote ||
      elements.some(namesReference) ||
      // A note may lead back to the link, or to an element around it.
      elements.some((element) => namesOf(element).some((name) => backTo.includes(name)));
    const looksLikeOne = elements.some(({ name }) => name === 'sup') || !/[\p{L}\p{N}]/u.test(label);
    return isMeant || (looksLikeOne && unlabelled !== undefined) ? (unlabelled ?? text) : undefined;
  }

  /** Lets the id of an element at the beginning of a block lead to the block. */
  #addNames(names: readonly string[]): void {
    const block = this.#frames.findLast((frame) => frame.isBlock);
    const isAtStart = this.#frames.at(-1)?.isBlock || (block && this.#inline.isBlankFrom(block.start));
    if (!block || names.length === 0 || !isAtStart) return;
    if (block.ids.length === 0) this.#named += 1;
    block.ids.push(...names);
  }

  #addLink({ href = '' }: Attributes): void {
    const at = href.indexOf('#');
    if (at < 0) return;
    const target = href.slice(at + 1);
    for (const { ids, backTo } of this.#frames)
      if (target !== '' && ids.length > 0 && backTo.length < MOST_BACK) backTo.push(target);
    if (this.#silent > 0 || this.#link || this.links.length >= MOST_LINKS) return;
    const elements = this.#frames.slice(this.#frames.findLastIndex(({ isBlock }) => isBlock) + 1, -1);
    const isInTarget = this.#frames.some((frame) => [...frame.ids, ...namesOf(frame)].includes(target));
    const [start, depth] = [this.#inline.mark, this.#frames.length];
    this.#link = { href, label: '', elements, isInTarget, start, depth };
  }

  #endLink(link: Link): void {
    this.#link = undefined;
    link.label = this.#inline.from(link.start) ?? '';
    if (this.#named === 0) this.#inline.cut(link.start);
    if (isNoteMark(link.label)) this.links.push(link);
  }
}

function namesOf({ name, attributes }: Pick<Frame, 'name' | 'attributes'>): readonly string[] {
  return [attributes.id, name === 'a' ? attributes.name : undefined].flatMap((id) => id || []);
}

/** True for an element that some program names or classes as a reference. */
function namesReference({ attributes: { href, ...said } }: Frame): boolean {
  return /noteref|footnote-?(?:ref|anchor)|fnref/iu.test(Object.values(said).join(' '));
}

export async function indexNotes(characters: AsyncIterable<string>, name: string): Promise<NoteIndex> {
  const index = new NoteIndex();
  const markup = new Markup(index, name);
  for await (const text of characters) markup.write(text);
  markup.end();
  return index;
}

/** @returns `undefined` if the text does not begin with the label */
function withoutLabel(text: string, label: string): string | undefined {
  const bare = label.replace(/[\s()[\]{}.:]/gu, '').replace(/[\\^$.*+?|/-]/gu, '\\$&');
  const pattern = new RegExp(`^[\\s(\\[{${ARROWS}]*${bare}(?![\\p{L}\\p{N}])[\\s)\\]}.:${ARROWS}]*`, 'iu');
  return pattern.test(text) ? text.replace(pattern, '') : undefined;
}

interface Target {
  /** The document; empty if there is only one. */
  readonly path: string;
  readonly fragment: string;
}

interface FoundNotesOptions {
  readonly readsNotes: boolean;
  /** @returns `undefined` for a link out of the book */
  resolve(href: string, from: string): Target | undefined;
  /** Indexes another document, to find notes there. */
  index?(path: string): Promise<NoteIndex | undefined>;
}

/** Indexes that are cached for the next documents. */
const MOST_INDEXES = 4;

/** The notes that references lead to, over all documents of a book. */
export class FoundNotes {
  readonly #options: FoundNotesOptions;
  readonly #texts = new Map<string, string>();
  readonly #indexes = new Map<string, NoteIndex | undefined>();

  constructor(options: FoundNotesOptions) {
    this.#options = options;
  }

  /** Resolves the references of a document before it is read. */
  async prepare(path: string, index: NoteIndex): Promise<void> {
    const { readsNotes, resolve } = this.#options;
    this.#keep(path, index);
    const found = index.links.flatMap((link) => {
      const target = resolve(link.href, path);
      // A link to its own place, such as a line number, refers to nothing.
      return target && !(link.isInTarget && target.path === path) ? [{ link, target }] : [];
    });
    // Sorted by document, so that each is indexed once.
    for (const { link, target } of found.toSorted((a, b) => compare(a.target.path, b.target.path))) {
      const isCertain = !readsNotes && link.elements.some(namesReference);
      const note = isCertain ? '' : (await this.#indexOf(target.path))?.find(target.fragment, link);
      if (note === undefined || (note === '' && readsNotes)) continue;
      this.#texts.set(keyOf(target), readsNotes ? note : '');
    }
  }

  /** @param said keys of the notes already read, over all documents: none is read twice */
  of(path: string, said: Set<string>): Notes {
    const { readsNotes, resolve } = this.#options;
    const keyFor = (href: string) => {
      const target = resolve(href, path);
      return target && keyOf(target);
    };
    const textOf = (key: string | undefined) => (key === undefined ? undefined : this.#texts.get(key));
    let skipped = 0;
    return {
      get skipped() {
        return skipped;
      },
      isReference: (href) => textOf(keyFor(href)) !== undefined,
      isNote: (fragment) => this.#texts.has(keyOf({ path, fragment })),
      take: (href) => {
        if (!readsNotes) skipped += 1;
        const key = keyFor(href);
        if (!readsNotes || key === undefined || said.has(key)) return undefined;
        said.add(key);
        return textOf(key);
      },
    };
  }

  async #indexOf(path: string): Promise<NoteIndex | undefined> {
    if (!this.#indexes.has(path)) this.#keep(path, await this.#options.index?.(path));
    return this.#indexes.get(path);
  }

  #keep(path: string, index: NoteIndex | undefined): void {
    const [oldest] = this.#indexes.keys();
    if (this.#indexes.size >= MOST_INDEXES && oldest !== undefined) this.#indexes.delete(oldest);
    this.#indexes.set(path, index);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function keyOf({ path, fragment }: Target): string {
  return `${path}#${fragment}`;
}

interface EndedLink {
  readonly href: string;
  readonly declaresReference: boolean;
}

/** True for the sign after a heading that links to the heading itself. */
function isPermalink(text: string, href: string): boolean {
  return /^[#§¶]$/u.test(text) && href.startsWith('#');
}

/**
 * Removes the text of a reference at its end, and may read its note there.
 * @param start the mark where the text of the link begins
 */
export function endLink(inline: Inline, start: number, link: EndedLink, notes: Notes | undefined): void {
  const text = inline.from(start);
  if (!text) return;
  const isReference = link.declaresReference
    ? isDeclaredMark(text)
    : isNoteMark(text) && notes?.isReference(link.href) === true;
  if (isReference || isPermalink(text, link.href)) inline.cut(start);
  if (!isReference) return;
  const note = notes?.take(link.href);
  if (note) inline.text(noteAfter(inline.before(inline.mark), note));
}

const MARK = /^(?:\[?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,3}\]?|\(\d{1,3}\)|[*†‡§]{1,3})$/u;
/** The text before a note's mark: the end of a sentence or of a quotation, or a word. */
const BEFORE_MARK = /[.,;:!?…”’"'»)\]]$|\p{L}{4}$/u;
/** Units, which may have powers. */
const UNITS = /(?:met(?:re|er)s?|miles?|inch(?:es)?|foot|feet|yards?|seconds?)$/iu;
const YEAR = /(?:^|\D)(?:1\d|20)\d\d$/u;

/**
 * Handles raised text: the mark of a note is silent, and an exponent is read as a power; else it is part of the word.
 * @param start the mark where it begins
 */
export function endRaised(inline: Inline, start: number): void {
  const text = inline.from(start) ?? '';
  const before = inline.before(start);
  if (/\d$/u.test(before) && /^(?:[+−–-]?\d{1,3}|[nxyk])$/u.test(text) && !YEAR.test(before))
    inline.endPower(start);
  else if (MARK.test(text) && isMarked(before, text)) inline.cut(start);
}

function isMarked(before: string, mark: string): boolean {
  if (/^[[*†‡§]/u.test(mark)) return before.trim() !== '';
  return YEAR.test(before) || (BEFORE_MARK.test(before) && !UNITS.test(before));
}

export function skippedNotes(count: number): string | undefined {
  if (count === 0) return undefined;
  if (count === 1) return '1 note is not read; --footnotes read reads it where it is referred to';
  return `${count} notes are not read; --footnotes read reads them where they are referred to`;
}

/** UTF-16 units. */
const LONGEST_MARK = 20;

/** True for the text of a declared reference that is a mark. A linked word in a sentence is none. */
function isDeclaredMark(text: string): boolean {
  return text.trim().length <= LONGEST_MARK && (/\p{N}/u.test(text) || !/\p{L}{3}/u.test(text));
}
