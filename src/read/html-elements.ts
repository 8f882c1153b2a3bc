import { endsSentence, LOOKAROUND, withFullStop } from '../text/marks.ts';

/** Names of elements, in lower case and without a prefix. */
type Names = ReadonlySet<string>;

const named = (names: string): Names => new Set(names.split(' '));

/** Elements that are blocks of their own. */
export const BLOCKS = named(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer ' +
    'form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section ' +
    'summary table tbody td tfoot th thead tr ul',
);

/** Elements whose content is not text for a reader. */
const SILENT = named(
  'audio button canvas command datalist iframe input map meter noscript progress rp rtc script select style ' +
    'template textarea title video',
);

const LISTING_CLASS =
  /(?:^|[\s_-])(?:code(?:-?block|hilite)?|listing(?:block)?|program-?listing|source-?code|highlight|prettyprint|hljs|screen|(?:lang|language|brush)[-:])/iu;
const LANGUAGE_CLASS = /(?:^|\s)(?:lang|language|highlight-source)-([a-z][\w+#.-]{0,29})/iu;
const CODE = named('code samp kbd');

/** True for a block that declares its text to be code. */
export function isListing({ class: classes, 'data-type': type }: Attributes): boolean {
  return (classes !== undefined && LISTING_CLASS.test(classes)) || type === 'programlisting';
}

/** True for an element that, at the start of a `pre`, makes it a block of code. */
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

/**
 * Formats a note for the place after the text before its reference: as a sentence after a sentence, otherwise in brackets.
 */
export function noteAfter(said: string, note: string): string {
  return endsSentence(said.trimEnd()) ? ` ${withFullStop(note)} ` : ` (${note.replace(/\.$/u, '')})`;
}

/** Joins the cells of a row into one sentence. */
export function rowOf(cells: readonly string[]): string {
  const said: string[] = [];
  // Only the end is tested: testing the whole row for each cell would be quadratic.
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

/** Elements whose text ends like a sentence, whatever its last character. */
export const SENTENCE_LIKE = named('caption dd dt figcaption h1 h2 h3 h4 h5 h6 legend li summary td th');

/** Elements that follow each other like lines, without a paragraph pause. */
export const TIGHT = named('dd dt li td th');

/** Elements of a drawing that are not shown; its text is in `text` elements. */
export const UNSHOWN_IN_SVG = named('defs desc metadata symbol');

const FILE_NAME = /\.(?:avif|bmp|gif|heic|jpe?g|mp4|pdf|png|svg|tiff?|webm|webp)$/iu;
const NO_DESCRIPTION =
  /^(?:art|bild|cover|figure|foto|icon|logo|picto)$|^(?:dscn?|dscf|image|img|photo|pic|picture|untitled)[\s_-]*\d*$/iu;
/** Names that programs give to screenshots and pasted pictures, followed by a time. */
const CAPTURED =
  /^(?:bildschirmfoto|capture d’écran|clipboard|pasted[ _-]?image|screen[ _-]?shot)(?:[\s\d._:-]|\b(?:[ap]m|at|um|à)\b)*$/iu;
/** What Word adds to a description that a program guessed, in the languages of Word. */
const GUESSED =
  /description (?:automatically generated|générée automatiquement)|automatically generated description|AI-generated content may be|(?:automatisch generierte|automatisch gegenereerde) bes\p{L}+|KI-generierte Inhalte k|contenu généré par l.IA p|gegenereerde inhoud is m|(?:descripción generada|descrizione generata|descrição gerada) autom[aá]ticam|(?:contenido|contenuto|conteúdo) ge\p{L}+ (?:por|dall.)\s?IA p/iu;

/** Addresses of badges, with which READMEs begin: the state of a build, a version, a licence. */
const BADGE = [
  /^https?:\/\/(?:badges?\.|(?:[\w-]{1,40}\.)?(?:appveyor|badgen|circleci|codecov|coveralls|david-dm|komarev|nodei|saucelabs|shields|travis-ci|versionbadg)\.)/iu,
  /^https?:\/\/(?![^?#]{1,500}\.(?:jpe?g|png|webp)\b)[^?#]{1,500}?(?:[/_-]badges?(?:_logo)?(?:\/|\.svg|[?#]|$)|\/build\/status)/iu,
];

/** True for a badge, and for a description that was guessed, or only repeats the kind of the picture or its file name. */
export function describesNothing({ alt = '', src = '', ...attributes }: Attributes): boolean {
  const text = alt.trim();
  // GitHub shows its own copy of a picture, and names the original.
  const address = attributes['data-canonical-src'] ?? src;
  if (BADGE.some((pattern) => pattern.test(address))) return true;
  if ([FILE_NAME, NO_DESCRIPTION, CAPTURED, GUESSED].some((pattern) => pattern.test(text))) return true;
  const file = src.slice(src.lastIndexOf('/') + 1).replace(FILE_NAME, '');
  return /[\d_-]/u.test(text) && text.toLowerCase() === file.toLowerCase();
}

/** @returns 1 for the highest heading, `undefined` for other elements */
export function headingLevel(name: string): number | undefined {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : undefined;
}

/** @param name may have a prefix: `m:math` is `math` */
export function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

export type Attributes = Readonly<Record<string, string>>;

/** Returns the words of `epub:type` (with any prefix) and `role` in lower case, without `doc-`. */
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
/** Classes of page numbers, and of Wikipedia's edit links and remarks such as "citation needed". */
const SILENT_CLASS =
  /(?:^|\s)(?:(?:x-ebookmaker-)?page-?(?:num(?:ber)?s?|no)|mw-editsection|inline-template)(?:\s|$)/iu;
/** The formula of Wikipedia, which is hidden behind its picture. */
const HEARD_CLASS = /(?:^|\s)mwe-math-mathml-/u;
const NO_DISPLAY = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/iu;

/** True for hidden elements and the numbers of printed pages. */
export function isSilent(name: string, attributes: Attributes, meanings: readonly string[]): boolean {
  if (SILENT.has(name)) return true;
  const { hidden, style, class: classes } = attributes;
  if (hidden !== undefined || attributes['aria-hidden'] === 'true') return true;
  if (style !== undefined && NO_DISPLAY.test(style) && !HEARD_CLASS.test(classes ?? '')) return true;
  if (name === 'dialog' && attributes.open === undefined) return true;
  if (classes !== undefined && SILENT_CLASS.test(classes)) return true;
  return meanings.some((meaning) => PAGE_NUMBERS.has(meaning));
}

const PAGE_NAME = /^(?:page|pg)[-_.]?0*(0|[1-9]\d*|[ivxlc]+)$/iu;
/** Matches each run of these characters only once, to stay linear. */
const AROUND_NUMBER = /^[\s([{]*(?:(?:page|pg|p)\b\.?\s*)?|(?<![\s)\]}])[\s)\]}]+$/giu;

/** @returns the page number in the id or name of an element that marks a printed page */
export function pageNamedBy({ id, name }: Attributes): string | undefined {
  return PAGE_NAME.exec(id ?? name ?? '')?.[1];
}

/** True for a text that is nothing but this page number. */
export function isPageNumber(text: string, page: string | undefined): boolean {
  return page !== undefined && text.replace(AROUND_NUMBER, '').toLowerCase() === page.toLowerCase();
}

const BLOCK_DISPLAY = /(?:^|;)\s*display\s*:\s*(?:block|list-item|table-row|flex|grid)\b/iu;

export function isShownAsBlock({ style }: Attributes): boolean {
  return style !== undefined && BLOCK_DISPLAY.test(style);
}

const INITIAL_CLASS = /(?:^|[\s_-])(?:drop-?caps?|dropped|initial|lettrine)(?:$|[\s_-])/iu;

/** True for an element with a drop cap. */
export function isInitial({ class: classes }: Attributes): boolean {
  return classes !== undefined && INITIAL_CLASS.test(classes);
}

/** True for the name of a speaker in a play (Z39.98 structural vocabulary). */
export function isSpeakerName(meanings: readonly string[]): boolean {
  return meanings.some((meaning) => /^(?:z3998:)?persona$/u.test(meaning));
}

const NUMBER_OR_SIGN =
  /^[\s([{]*(?:(?:note|fn|n|注)\.?\s*)?(?:\p{N}{1,4}|[*†‡§¶‖#⁎∗※]{1,4}|[ivxlc]{1,6}|\p{L})[\s)\]}.:]*$/iu;

/** True for a link text that may refer to a note: `1`, `[12]`, `*`, `iv`. */
export function isNoteMark(text: string): boolean {
  return NUMBER_OR_SIGN.test(text);
}

const REFERENCE_CLASS =
  /(?:^|\s)(?:footnote-?(?:ref|anchor|link)|noteref|note-?ref|fnref|fnanchor)(?:\s|$)/iu;

/** True for an element that declares itself a reference to a note. */
export function declaresReference({ class: classes }: Attributes, meanings: readonly string[]): boolean {
  return meanings.includes('noteref') || (classes !== undefined && REFERENCE_CLASS.test(classes));
}

const BACK = new Set(['backlink', 'referrer']);
const BACK_CLASS =
  /(?:^|\s)(?:footnote-?back(?:ref|link)?|reversefootnote|backlink|footnote-return)(?:\s|$)/iu;

/** True for a link from a note back to its reference. */
export function leadsBack({ class: classes }: Attributes, meanings: readonly string[]): boolean {
  return meanings.some((meaning) => BACK.has(meaning)) || (classes !== undefined && BACK_CLASS.test(classes));
}

const NOTES = new Set(['footnote', 'footnotes', 'endnote', 'endnotes', 'rearnote', 'rearnotes']);
/** Classes of notes; those of pages that Word and LibreOffice save are on each paragraph of a note. */
const NOTES_CLASS =
  /(?:^|\s)(?:footnotes?|endnotes?|rearnotes?|Mso(?:Foot|End)noteText\w*|sd(?:foot|end)note)(?:\s|$)/iu;

/** True for an element that declares itself a note or a list of notes. */
export function declaresNote(
  name: string,
  { class: classes }: Attributes,
  meanings: readonly string[],
): boolean {
  if (meanings.some((meaning) => NOTES.has(meaning))) return true;
  return BLOCKS.has(name) && name !== 'body' && classes !== undefined && NOTES_CLASS.test(classes);
}

/** True for a line of the table of contents in a page that Word saved. */
export function isContentsLine({ class: classes }: Attributes): boolean {
  return classes !== undefined && /(?:^|\s)MsoToc(?:\d|Heading)/u.test(classes);
}

/** A single HTML tag within another format, which has already recognised it. */
export interface Tag {
  /** In lower case. */
  readonly name: string;
  readonly isEnd: boolean;
  /** True if no end tag follows. */
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

/** True for an element that is not spoken, along with its text. */
export function isUnspoken({ name, attributes }: Tag): boolean {
  return (
    name === 'rt' || name === 'math' || name === 'svg' || isSilent(name, attributes, meaningsOf(attributes))
  );
}

/** Returns the text of the tag itself: a line break, or a description. */
export function spokenTag({ name, isEnd, attributes }: Tag): string {
  if (name === 'br' || BLOCKS.has(name)) return '\n';
  return name === 'img' && !isEnd && !describesNothing(attributes) ? (attributes.alt ?? '') : '';
}
