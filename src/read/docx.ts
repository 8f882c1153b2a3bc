import { posix } from 'node:path';
import { usageError } from '../kit/error.ts';
import { escaped } from '../kit/words.ts';
import { labelOf } from '../text/piece.ts';
import { type Attributes, localName } from './html-elements.ts';
import { Markup, type MarkupHandler } from './html-parse.ts';
import { openAsPage } from './page-of.ts';
import type { About, HtmlOptions, Reading, Source } from './reading.ts';
import { allIn, type Element, firstIn, plainText, treeOf } from './xml-tree.ts';
import { Archive, locationOf } from './zip.ts';

/** Bytes of one unpacked file. */
const LARGEST = 64 * 1024 * 1024;

/**
 * Reads a Word document (ECMA-376, part 1) as a page with headings, lists, tables and notes.
 * @throws TtsError (usage) for anything else
 */
export async function openDocx(source: Source, options: HtmlOptions, signal: AbortSignal): Promise<Reading> {
  const name = labelOf(source.name);
  const location = await locationOf(source, signal);
  using archive = await Archive.open(name, location, signal);
  const markupOf = (path: string) => archive.text(path, LARGEST, signal);
  const related = async (part: string) => targetsOf(part, (await markupOf(relationsOf(part))) ?? '');
  const main = (await related('')).get('officeDocument') ?? 'word/document.xml';
  if (!/^word\//u.test(main) || !archive.has(main))
    throw usageError(
      `${name} is not text: it is a ZIP file without a Word document`,
      'unpack it, and name the file that holds the text',
    );
  const targets = await related(main);
  const pathOf = (kind: string) => targets.get(kind) ?? `word/${kind}.xml`;
  const notes = NOTES.map((note) => ({ path: pathOf(`${note}s`), note }));
  archive.assertAllReadable([main, pathOf('styles'), ...notes.map(({ path }) => path)]);
  const styles = stylesOf(treeOf((await markupOf(pathOf('styles'))) ?? '', `the styles of ${name}`));
  const parts: string[] = [];
  for (const { path, note } of [{ path: main, note: undefined }, ...notes]) {
    const text = await markupOf(path);
    if (text === undefined) continue;
    const document = new WordDocument(styles, options.readsAll, note);
    const markup = new Markup(document, `${path} in ${name}`, { isXml: true });
    markup.write(text);
    markup.end();
    parts.push(document.html);
  }
  const core = await markupOf('docProps/core.xml');
  const about = core === undefined ? undefined : aboutOf(treeOf(core, `the properties of ${name}`));
  return openAsPage(source, parts.join(''), options, { about, signal });
}

function aboutOf(root: Element): About {
  const textOf = (name: string) => {
    const element = firstIn(root, name);
    return (element && plainText(element)) || undefined;
  };
  return { title: textOf('title'), author: textOf('creator'), language: textOf('language') };
}

/** Returns the path of the file that lists the parts a part refers to; `''` is the archive itself (ECMA-376, part 2). */
function relationsOf(part: string): string {
  const { dir, base } = posix.parse(part);
  return posix.join(dir, '_rels', `${base}.rels`);
}

/** Returns the parts that a part refers to, by their kind. Their names vary: Word for the web writes `document2.xml`. */
function targetsOf(part: string, xml: string): ReadonlyMap<string, string> {
  const all = [...allIn(treeOf(xml, relationsOf(part)), 'Relationship')];
  return new Map(
    all.map(({ attributes: { Type = '', Target = '' } }) => [
      posix.basename(Type),
      posix.resolve('/', posix.dirname(part), Target).slice(1),
    ]),
  );
}

const NOTES = ['footnote', 'endnote'] as const;
type NoteKind = (typeof NOTES)[number];

/** The HTML element for the paragraphs of a style, by the style's id. */
type Styles = ReadonlyMap<string, string>;

/** The names of built-in styles are English in the file, whatever the language of Word. */
function stylesOf(root: Element): Styles {
  const all = [...allIn(root, 'style')].map((style) => ({ style, id: style.attributes.styleId ?? '' }));
  const byId = new Map(all.map(({ style, id }) => [id, style]));
  const found = new Map<string, string>();
  for (const { style, id } of all) {
    let [at, element] = [style as Element | undefined, undefined as string | undefined];
    for (let steps = 0; at && element === undefined && steps < MOST_BASES; steps += 1) {
      element = elementOf(at);
      at = byId.get(childOf(at, 'basedOn')?.attributes.val ?? '');
    }
    if (element !== undefined) found.set(id, element);
  }
  return found;
}

const MOST_BASES = 16;

/** Looks at the first children only, since many styles may be based on one. */
function childOf({ children }: Element, name: string): Element | undefined {
  return children.slice(0, MOST_CHILDREN).find((child) => child.name === name);
}

/** Children of a style that are searched; Word writes at most 25. */
const MOST_CHILDREN = 100;

function elementOf(style: Element): string | undefined {
  const name = childOf(style, 'name')?.attributes.val?.toLowerCase() ?? '';
  if (/^toc (?:\d|heading)$/u.test(name)) return 'nav';
  if (name === 'title') return 'h1';
  if (name === 'caption') return 'figcaption';
  if (/^list (?:bullet|number)/u.test(name)) return 'li';
  const paragraph = childOf(style, 'pPr');
  const outline = paragraph && childOf(paragraph, 'outlineLvl');
  const level = Number(outline?.attributes.val ?? Number.NaN) + 1;
  return headingOf(Number(/^heading (\d)$/u.exec(name)?.[1] ?? level));
}

/** @returns the HTML heading for an outline level; `undefined` for others, such as 10 for body text */
function headingOf(level: number): string | undefined {
  return level >= 1 && level <= 9 ? `h${Math.min(level, 6)}` : undefined;
}

/**
 * Elements whose content is not read: deleted or moved text, formats of before a change, field codes, readings above
 * a text, alternatives of the same content.
 */
const UNREAD = new Set(
  'del moveFrom pPrChange rPrChange instrText delText delInstrText rt Fallback sectPr'.split(' '),
);
const TABLES = new Map(Object.entries({ tbl: 'table', tr: 'tr', tc: 'td' }));
const RAISED = new Map(Object.entries({ superscript: 'sup', subscript: 'sub' }));
const OFF = new Set(['0', 'false', 'off']);
const CHARACTERS = new Map(Object.entries({ br: '<br/>', cr: '<br/>', tab: ' ', noBreakHyphen: '‑' }));
/** Parts of an equation whose meaning is in their layout; one without them, such as "x = 1", is read as it stands. */
const LAID_OUT = new Set(
  'acc bar borderBox d eqArr f func groupChr limLow limUpp m nary phant rad sPre sSubSup'.split(' '),
);
/** Types of notes that are only the lines between text and notes. */
const SEPARATOR = /^(?:separator|continuationSeparator|continuationNotice)$/u;

interface Paragraph {
  element: string | undefined;
  html: string;
}

/** Converts one WordprocessingML file into HTML. */
class WordDocument implements MarkupHandler {
  html = '';
  readonly #styles: Styles;
  readonly #readsAll: boolean;
  readonly #note: NoteKind | undefined;
  /** A stack: a paragraph may hold a text box with paragraphs. */
  readonly #paragraphs: Paragraph[] = [];
  #isText = false;
  #isHidden = false;
  #raised: string | undefined;
  /** Where the current equation begins in the paragraph. */
  #equation: { readonly start: number; isLaidOut: boolean } | undefined;
  readonly #open: string[] = [];
  /** The number of elements around the table of contents that is open; its paragraphs need no style of contents. */
  #contents: number | undefined;

  constructor(styles: Styles, readsAll: boolean, note: NoteKind | undefined) {
    this.#styles = styles;
    this.#readsAll = readsAll;
    this.#note = note;
  }

  skips(tag: string, attributes: Attributes): boolean {
    const name = localName(tag);
    return UNREAD.has(name) || (name === this.#note && SEPARATOR.test(attributeOf(attributes, 'type') ?? ''));
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    this.#beginPart(name, attributes);
    this.#begin(name, attributes);
    this.#open.push(name);
  }

  text(text: string): void {
    if (!this.#isText || this.#isHidden) return;
    const words = escaped(text);
    this.#write(this.#raised ? `<${this.#raised}>${words}</${this.#raised}>` : words);
  }

  close(): void {
    const name = this.#open.pop() ?? '';
    if (name === 't') this.#isText = false;
    else if (name === 'p') this.#endParagraph();
    else if (name === 'oMath') this.#endEquation();
    else if (this.#open.length === this.#contents) this.#contents = undefined;
    else if (name === this.#note) this.html += '</aside>';
    else if (TABLES.has(name)) this.#write(`</${TABLES.get(name)}>`);
  }

  /** Begins what is only known at its end, or by what is in it. */
  #beginPart(name: string, attributes: Attributes): void {
    if (name === 'oMath')
      this.#equation = { start: this.#paragraphs.at(-1)?.html.length ?? 0, isLaidOut: false };
    else if (this.#equation) this.#equation.isLaidOut ||= LAID_OUT.has(name);
    else if (name === 'docPartGallery' && attributeOf(attributes, 'val') === 'Table of Contents') {
      const around = this.#open.lastIndexOf('sdt');
      if (around >= 0) this.#contents ??= around;
    }
  }

  #begin(name: string, attributes: Attributes): void {
    const table = TABLES.get(name);
    const inside = this.#open.at(-1);
    if (name === 'p') this.#paragraphs.push({ element: undefined, html: '' });
    else if (name === 't') this.#isText = true;
    else if (name === 'r') [this.#isHidden, this.#raised] = [false, undefined];
    else if (inside === 'pPr') this.#setParagraph(name, attributes);
    else if (inside === 'rPr') this.#setRun(name, attributes);
    else if (name === this.#note) this.html += `<aside epub:type="${name}" id="${idOf(name, attributes)}">`;
    else if (table !== undefined) this.#write(`<${table}>`);
    else if (name === 'docPr' && attributes.descr) this.#write(`<img alt="${escaped(attributes.descr)}"/>`);
    else if (inside === 'r') this.#write(inRun(name, attributes));
  }

  #setParagraph(name: string, attributes: Attributes): void {
    const paragraph = this.#paragraphs.at(-1);
    const value = attributeOf(attributes, 'val') ?? '';
    if (!paragraph) return;
    // Some files use built-in styles without defining them.
    if (name === 'pStyle')
      paragraph.element ??= this.#styles.get(value) ?? headingOf(Number(/^Heading(\d)$/u.exec(value)?.[1]));
    else if (name === 'numPr') paragraph.element ??= 'li';
    else if (name === 'outlineLvl') paragraph.element = headingOf(Number(value) + 1) ?? paragraph.element;
  }

  #setRun(name: string, attributes: Attributes): void {
    const value = attributeOf(attributes, 'val');
    if (name === 'vanish') this.#isHidden = !OFF.has(value ?? '');
    else if (name === 'vertAlign') this.#raised = RAISED.get(value ?? '');
  }

  #endEquation(): void {
    const [paragraph, equation] = [this.#paragraphs.at(-1), this.#equation];
    this.#equation = undefined;
    if (paragraph && equation?.isLaidOut)
      paragraph.html = `${paragraph.html.slice(0, equation.start)}<math></math>`;
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    if (!paragraph) return;
    const { html } = paragraph;
    const element = this.#contents === undefined ? (paragraph.element ?? 'p') : 'nav';
    if (element !== 'nav') this.#write(`<${element}>${html}</${element}>\n`);
    else if (this.#readsAll) this.#write(`<p>${html}</p>\n`);
  }

  #write(html: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph) paragraph.html += html;
    else this.html += html;
  }
}

function attributeOf(attributes: Attributes, name: string): string | undefined {
  return attributes[`w:${name}`] ?? attributes[name];
}

/** Returns the HTML for the elements of a run that are not text. */
function inRun(name: string, attributes: Attributes): string {
  const [, note] = /^(footnote|endnote)Reference$/u.exec(name) ?? [];
  if (note === undefined) return CHARACTERS.get(name) ?? '';
  return `<a epub:type="noteref" href="#${idOf(note, attributes)}">*</a>`;
}

function idOf(note: string, attributes: Attributes): string {
  return `${note}-${escaped(attributeOf(attributes, 'id') ?? '')}`;
}
