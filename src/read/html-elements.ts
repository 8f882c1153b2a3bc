import { endsSentence, LOOKAROUND, withFullStop } from '../text/marks.ts';

/** Names of elements, in small letters and without a prefix. */
type Names = ReadonlySet<string>;

const named = (names: string): Names => new Set(names.split(' '));

/** Each of them is a block of its own. */
export const BLOCKS = named(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer ' +
    'form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section ' +
    'summary table tbody td tfoot th thead tr ul',
);

/** Nothing in them is meant for a reader of the text. */
const SILENT = named(
  'audio button canvas command datalist iframe input map meter noscript progress rp rtc script select style ' +
    'template textarea title video',
);

const LISTING_CLASS =
  /(?:^|[\s_-])(?:code(?:-?block|hilite)?|listing(?:block)?|program-?listing|source-?code|highlight|prettyprint|hljs|screen|(?:lang|language|brush)[-:])/iu;
const LANGUAGE_CLASS = /(?:^|\s)(?:lang|language|highlight-source)-([a-z][\w+#.-]{0,29})/iu;
const CODE = named('code samp kbd');

/** True for a block that says that its text is code. */
export function isListing({ class: classes, 'data-type': type }: Attributes): boolean {
  return (classes !== undefined && LISTING_CLASS.test(classes)) || type === 'programlisting';
}

/** True for an element that is a whole `pre` of code, if it begins there. */
export function isCode(name: string): boolean {
  return CODE.has(name);
}

export function languageOfCode({
  class: classes,
  'data-code-language': named,
}: Attributes): string | undefined {
  return named ?? LANGUAGE_CLASS.exec(classes ?? '')?.[1];
}

export function codeOmitted(language: string | undefined): string {
  return language ? `Code in ${language} omitted.` : 'Code omitted.';
}

/** A note after the text in front of its reference: a sentence behind one, and otherwise in brackets. */
export function noteAfter(said: string, note: string): string {
  return endsSentence(said.trimEnd()) ? ` ${withFullStop(note)} ` : ` (${note.replace(/\.$/u, '')})`;
}

/** The cells of a row as one sentence. */
export function rowOf(cells: readonly string[]): string {
  const said: string[] = [];
  // Searching the whole row for each cell would be quadratic.
  let end = '';
  for (const cell of cells) {
    if (cell === '') continue;
    if (end !== '') said.push(endsSentence(end) ? ' ' : ', ');
    said.push(cell);
    end = (end + cell).slice(-LOOKAROUND);
  }
  return withFullStop(said.join(''));
}

const RAISED_CLASS = /(?:^|\s)(?:sup|super|superscript)(?:\s|$)/iu;

export function isRaised(name: string, { class: classes }: Attributes): boolean {
  return name === 'sup' || (name === 'span' && classes !== undefined && RAISED_CLASS.test(classes));
}

/** Their text ends like a sentence, whatever its last character. */
export const CLOSED = named('caption dd dt figcaption h1 h2 h3 h4 h5 h6 legend li summary td th');

/** They follow each other like lines. */
export const TIGHT = named('dd dt li td th');

/** Text of a drawing is in its `text`; what is in these is not shown. */
export const UNSHOWN_IN_SVG = named('defs desc metadata symbol');

const FILE_NAME = /\.(?:avif|bmp|gif|heic|jpe?g|mp4|pdf|png|svg|tiff?|webm|webp)$/iu;
const NO_DESCRIPTION =
  /^(?:art|bild|cover|figure|foto|icon|logo|picto)$|^(?:dscn?|dscf|image|img|photo|pic|picture|untitled)[\s_-]*\d*$/iu;
/** The name that a program gives to a picture of the screen or of its clipboard: it ends with a time. */
const CAPTURED =
  /^(?:bildschirmfoto|capture d’écran|clipboard|pasted[ _-]?image|screen[ _-]?shot)(?:[\s\d._:-]|\b(?:[ap]m|at|um|à)\b)*$/iu;

/** True for a description that names the kind or the file of a picture, and says nothing of what it shows. */
export function describesNothing({ alt = '', src = '' }: Attributes): boolean {
  const text = alt.trim();
  if (FILE_NAME.test(text) || NO_DESCRIPTION.test(text) || CAPTURED.test(text)) return true;
  const file = src.slice(src.lastIndexOf('/') + 1).replace(FILE_NAME, '');
  return /[\d_-]/u.test(text) && text.toLowerCase() === file.toLowerCase();
}

/** @returns 1 for the highest heading, `undefined` for other elements */
export function headingLevel(name: string): number | undefined {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : undefined;
}

/** @param name as it is written: `m:math` is `math` */
export function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

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

/** True for hidden elements and the numbers of printed pages. */
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

const NUMBER_OR_SIGN =
  /^[\s([{]*(?:(?:note|fn|n|注)\.?\s*)?(?:\p{N}{1,4}|[*†‡§¶‖#⁎∗※]{1,4}|[ivxlc]{1,6}|\p{L})[\s)\]}.:]*$/iu;

/** True for the text of a link that may refer to a note: `1`, `[12]`, `*`, `iv`. */
export function isMark(text: string): boolean {
  return NUMBER_OR_SIGN.test(text);
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

/** One tag of HTML inside of another format, which has checked that it is one. */
export interface Tag {
  /** It is in small letters. */
  readonly name: string;
  readonly isEnd: boolean;
  /** No end follows. */
  readonly isEmpty: boolean;
  readonly attributes: Attributes;
}

const TAG = /^<(\/?)([a-z][a-z\d:-]*)/iu;
const ATTRIBUTE = /\s([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/gu;
const EMPTY = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** @returns `undefined` for comments and declarations */
export function tagOf(source: string): Tag | undefined {
  const [opening, slash, written] = TAG.exec(source) ?? [];
  if (opening === undefined || written === undefined) return undefined;
  const name = written.toLowerCase();
  const attributes: Record<string, string> = {};
  for (const [, key = '', ...values] of source.slice(opening.length).matchAll(ATTRIBUTE))
    attributes[key.toLowerCase()] ??= values.find((value) => value !== undefined) ?? '';
  return { name, isEnd: slash !== '', isEmpty: EMPTY.has(name) || source.endsWith('/>'), attributes };
}

/** True for an element that is not spoken; its text is not either. */
export function isUnspoken({ name, attributes }: Tag): boolean {
  return (
    name === 'rt' || name === 'math' || name === 'svg' || isSilent(name, attributes, meaningsOf(attributes))
  );
}

/** The text of a tag itself: a line break, or the description of what it shows. */
export function spokenTag({ name, isEnd, attributes }: Tag): string {
  if (name === 'br' || BLOCKS.has(name)) return '\n';
  if (name === 'math' && !isEnd) return attributes.alttext || 'formula';
  return name === 'img' && !isEnd && !describesNothing(attributes) ? (attributes.alt ?? '') : '';
}
