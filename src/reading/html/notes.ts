import { endsSentence, withFullStop } from '../sentence-end.ts';
import { BLOCKS } from './elements.ts';
import type { Inline } from './inline.ts';
import type { Attributes } from './meaning.ts';

/** What the reader of a document knows of its notes. */
export interface Notes {
  /** True for a link that leads to a note. */
  isReference(href: string): boolean;
  /** The note that is read where it is first referred to. It is `undefined` for one that is not read there. */
  take(href: string): string | undefined;
  /** True for an element that is a note, or in which one begins. */
  isNote(id: string): boolean;
  /** The number of references whose notes were not read. */
  readonly skipped: number;
}

const NUMBER_OR_SIGN =
  /^[\s([{]*(?:(?:note|fn|n|注)\.?\s*)?(?:\p{N}{1,4}|[*†‡§¶‖#⁎∗※]{1,4}|[ivxlc]{1,6}|\p{L})[\s)\]}.:]*$/iu;

/** True for the text of a link that may refer to a note: `1`, `[12]`, `*`, `iv`. */
export function isMark(text: string): boolean {
  return NUMBER_OR_SIGN.test(text);
}

/** UTF-16 units. */
const LONGEST_MARK = 20;

/** True for the text of what says of itself that it refers to a note. A linked word of a sentence is not a mark. */
function isMeantAsMark(text: string): boolean {
  return text.trim().length <= LONGEST_MARK && (/\p{N}/u.test(text) || !/\p{L}{3}/u.test(text));
}

const REFERENCE_CLASS =
  /(?:^|\s)(?:footnote-?(?:ref|anchor|link)|noteref|note-?ref|fnref|fnanchor)(?:\s|$)/iu;

/** True for an element that says that it refers to a note. */
export function saysReference({ class: classes }: Attributes, meanings: readonly string[]): boolean {
  return meanings.includes('noteref') || (classes !== undefined && REFERENCE_CLASS.test(classes));
}

const BACK = new Set(['backlink', 'referrer']);
const BACK_CLASS =
  /(?:^|\s)(?:footnote-?back(?:ref|link)?|reversefootnote|backlink|footnote-return)(?:\s|$)/iu;

/** True for a link from a note back to where it is referred to. */
export function leadsBack({ class: classes }: Attributes, meanings: readonly string[]): boolean {
  return meanings.some((meaning) => BACK.has(meaning)) || (classes !== undefined && BACK_CLASS.test(classes));
}

const NOTES = new Set(['footnote', 'footnotes', 'endnote', 'endnotes', 'rearnote', 'rearnotes']);
const NOTES_CLASS = /(?:^|\s)(?:footnotes?|endnotes?|rearnotes?)(?:\s|$)/iu;

/** True for a note, or a list of notes, that says so. */
export function saysNote(name: string, { class: classes }: Attributes, meanings: readonly string[]): boolean {
  if (meanings.some((meaning) => NOTES.has(meaning))) return true;
  return BLOCKS.has(name) && name !== 'body' && classes !== undefined && NOTES_CLASS.test(classes);
}

/** @param said the text before the reference */
function noteAfter(said: string, note: string): string {
  return endsSentence(said.trimEnd()) ? ` ${withFullStop(note)} ` : ` (${note.replace(/\.$/u, '')})`;
}

interface EndedLink {
  readonly href: string;
  readonly saysReference: boolean;
}

/** True for the sign behind a heading that leads to the heading itself. */
function isPermalink(text: string, href: string): boolean {
  return /^[#§¶]$/u.test(text) && href.startsWith('#');
}

/**
 * A reference is silent. Its note may be read in its place.
 * @param start where the text of the link begins
 */
export function endLink(inline: Inline, start: number, link: EndedLink, notes: Notes | undefined): void {
  const text = inline.from(start);
  if (!text) return;
  const isReference = link.saysReference
    ? isMeantAsMark(text)
    : isMark(text) && notes?.isReference(link.href) === true;
  if (isReference || isPermalink(text, link.href)) inline.cut(start);
  if (!isReference) return;
  const note = notes?.take(link.href);
  if (note) inline.text(noteAfter(inline.tail, note));
}

/** @returns what there is to say of notes that were not read */
export function skippedNotes(count: number): string | undefined {
  if (count === 0) return undefined;
  if (count === 1) return '1 note is not read; --footnotes read reads it where it is referred to';
  return `${count} notes are not read; --footnotes read reads them where they are referred to`;
}
