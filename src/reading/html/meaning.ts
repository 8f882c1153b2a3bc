import { SILENT } from './elements.ts';

export type Attributes = Readonly<Record<string, string>>;

/** Words of `epub:type` (with any prefix) and of `role`, in small letters; `doc-` is taken off. */
export function meaningsOf(attributes: Attributes): readonly string[] {
  const words: string[] = [];
  for (const name in attributes) {
    if (name !== 'role' && !(name.endsWith(':type') && name !== 'xlink:type' && name !== 'xsi:type'))
      continue;
    for (const word of (attributes[name] ?? '').toLowerCase().split(/\s+/u))
      if (word !== '') words.push(word.replace(/^doc-/u, ''));
  }
  return words;
}

const PAGE_NUMBERS = new Set(['pagebreak', 'page-list']);
/** Numbers of printed pages, and the links with which Wikipedia edits a section. */
const SILENT_CLASS = /(?:^|\s)(?:(?:x-ebookmaker-)?page-?(?:num(?:ber)?s?|no)|mw-editsection)(?:\s|$)/iu;
const NO_DISPLAY = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/iu;

/** True for what nobody sees, and for the numbers of printed pages. */
export function isSilent(name: string, attributes: Attributes, meanings: readonly string[]): boolean {
  if (SILENT.has(name)) return true;
  const { hidden, style, class: classes } = attributes;
  if (hidden !== undefined || attributes['aria-hidden'] === 'true') return true;
  if (style !== undefined && NO_DISPLAY.test(style)) return true;
  if (name === 'dialog' && attributes.open === undefined) return true;
  if (classes !== undefined && SILENT_CLASS.test(classes)) return true;
  return meanings.some((meaning) => PAGE_NUMBERS.has(meaning));
}

const PAGE_NAME = /^(?:page|pg)[-_.]?0*(0|[1-9]\d*|[ivxlc]+)$/iu;
/** It looks at a run of these characters only once. */
const AROUND_NUMBER = /^[\s([{]*(?:(?:page|pg|p)\b\.?\s*)?|(?<![\s)\]}])[\s)\]}]+$/giu;

/** @returns the number in the name of an element that is named after a printed page */
export function pageNamedBy({ id, name }: Attributes): string | undefined {
  return PAGE_NAME.exec(id ?? name ?? '')?.[1];
}

/** True for a text that is nothing but the number of this page. */
export function isPageNumber(text: string, page: string | undefined): boolean {
  return page !== undefined && text.replace(AROUND_NUMBER, '').toLowerCase() === page.toLowerCase();
}

const BLOCK_DISPLAY = /(?:^|;)\s*display\s*:\s*(?:block|list-item|table-row|flex|grid)\b/iu;

export function isShownAsBlock({ style }: Attributes): boolean {
  return style !== undefined && BLOCK_DISPLAY.test(style);
}

const INITIAL_CLASS = /(?:^|[\s_-])(?:drop-?caps?|dropped|initial|lettrine)(?:$|[\s_-])/iu;

/** True for an element that holds the large first letter of a word. */
export function isInitial({ class: classes }: Attributes): boolean {
  return classes !== undefined && INITIAL_CLASS.test(classes);
}

/** True for the name of a speaker in a play (Z39.98 structural vocabulary). */
export function isPersona(meanings: readonly string[]): boolean {
  return meanings.some((meaning) => /^(?:z3998:)?persona$/u.test(meaning));
}
