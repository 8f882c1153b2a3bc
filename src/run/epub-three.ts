/** Turns an EPUB 2 into an EPUB 3: package file, documents, a nav from the NCX. Changes only what EPUB 3 does not allow. */
import { Parser } from 'htmlparser2';
import { type TtsError, usageError } from '../kit/error.ts';
import { escaped } from '../kit/words.ts';
import { type Entry, openNavigation, type Package } from '../read/epub-package.ts';
import { type Edit, edited, freePrefix } from '../read/spans.ts';
import { allIn, firstIn, plainText } from '../read/xml-tree.ts';
import type { Archive } from '../read/zip.ts';
import { attributesIn, closing, elementsIn, MODIFIED, type NavLines, navPage, tagsIn } from './overlays.ts';

const XHTML = 'application/xhtml+xml';
const SVG = 'image/svg+xml';

export class Epub3Upgrade {
  readonly #book: Package;
  readonly #contents: NavLines;
  readonly #pages: ReadonlySet<string>;
  /** The `properties` of each document that the package file has to declare. */
  readonly #properties = new Map<string, readonly string[]>();

  private constructor(book: Package, contents: NavLines) {
    this.#book = book;
    this.#contents = contents;
    const items = [...book.items.values()];
    this.#pages = new Set(items.filter(({ mediaType }) => mediaType === XHTML).map(({ path }) => path));
  }

  /** @throws TtsError (usage) for a book that cannot become an EPUB 3 */
  static async open(
    archive: Archive,
    book: Package,
    name: string,
    signal: AbortSignal,
  ): Promise<Epub3Upgrade> {
    const types = new Map([...book.items.values()].map(({ path, mediaType }) => [path, mediaType]));
    const old = book.spine.find(({ path }) => ![XHTML, SVG].includes(types.get(path) ?? ''));
    if (old)
      throw notUpgraded(
        name,
        `${old.path} is ${types.get(old.path) || 'of no type'}, which EPUB 3 does not read`,
      );
    const { tables, pages } = await openNavigation(archive, book, signal);
    const spine = new Set(book.spine.map(({ path }) => path));
    const ncx = tables.find(({ source }) => source === 'ncx')?.entries ?? [];
    const leading = (all: readonly Entry[]) => all.filter(({ path }) => spine.has(path));
    const contents = { lines: leading(ncx), pages: leading(pages) };
    if (contents.lines.length === 0) throw notUpgraded(name, 'it has no table of contents (NCX)');
    return new Epub3Upgrade(book, contents);
  }

  isPage(path: string): boolean {
    return this.#pages.has(path);
  }

  isNcx(path: string): boolean {
    return path === this.#book.ncx;
  }

  /** Returns a document in the syntax of EPUB 3. */
  page(path: string, text: string): string {
    const found = PROPERTIES.filter(([pattern]) => pattern.test(text)).map(([, property]) => property);
    this.#properties.set(path, found);
    return text
      .replace(DOCTYPE, '<!DOCTYPE html>')
      .replace(HTML_VERSION, '$1')
      .replace(HTTP_EQUIV, '')
      .replace(ENTITY, (entity, name: string) => (OF_XML.has(name) ? entity : character(entity)));
  }

  /** Returns the NCX with the book's identifier from the package file. */
  ncx(text: string): string {
    const id = firstIn(this.#book.root, 'package')?.attributes['unique-identifier'];
    const identifier = [...allIn(this.#book.root, 'identifier')].find(
      ({ attributes }) => attributes.id === id,
    );
    if (!identifier) return text;
    return text.replace(NCX_UID, (tag) =>
      tag.replace(
        /(\scontent\s*=\s*)(?:"[^"]*"|'[^']*')/u,
        (_, key: string) => `${key}"${escaped(plainText(identifier))}"`,
      ),
    );
  }

  nav(path: string): string {
    const [title, language] = ['title', 'language'].map((name) => firstIn(this.#book.root, name));
    const about = {
      title: (title && plainText(title)) || 'Contents',
      language: (language && plainText(language)) || 'und',
    };
    return navPage(path, this.#contents, about);
  }

  /** @param nav link to the navigation document */
  package(text: string, nav: string): string {
    const [manifest, metadata] = [closing(text, 'manifest'), closing(text, 'metadata')];
    const meta = (attributes: string, value: string) =>
      `<${metadata.prefix}meta ${attributes}>${escaped(value)}</${metadata.prefix}meta>\n`;
    const edits: Edit[] = [];
    const prefix = freePrefix(text);
    const refined = dublinCore(text, prefix, edits);
    const metas = [...refined, { attributes: 'property="dcterms:modified"', value: MODIFIED }];
    for (const { attributes, value } of metas)
      edits.push({ at: metadata.at, text: meta(attributes, value), order: 0 });
    edits.push(...versionEdits(text), ...this.#propertyEdits(text));
    const item = `<${manifest.prefix}item id="${prefix}nav" href="${nav}" media-type="${XHTML}" properties="nav"/>\n`;
    edits.push({ at: manifest.at, text: item, order: 0 });
    return edited(text, edits);
  }

  #propertyEdits(text: string): readonly Edit[] {
    const cover = [...allIn(this.#book.root, 'meta')].find(({ attributes }) => attributes.name === 'cover');
    return tagsIn(text, 'item').flatMap(({ at, tag }) => {
      const item = this.#book.items.get(attributesIn(tag).get('id') ?? '');
      const isCover = item?.id === cover?.attributes.content && item?.mediaType.startsWith('image/');
      const properties = isCover ? ['cover-image'] : (this.#properties.get(item?.path ?? '') ?? []);
      if (properties.length === 0) return [];
      return [{ at: at + tag.search(/\s/u), text: ` properties="${properties.join(' ')}"`, order: 0 }];
    });
  }
}

function versionEdits(text: string): readonly Edit[] {
  return tagsIn(text, 'package').flatMap(({ at, tag }) => {
    const version = /\sversion\s*=\s*(?:"[^"]*"|'[^']*')/u.exec(tag);
    if (!version) return [];
    const start = at + version.index;
    return [{ at: start, end: start + version[0].length, text: ' version="3.0"', order: 0 }];
  });
}

function notUpgraded(name: string, why: string): TtsError {
  return usageError(
    `${name} is an EPUB 2, and cannot become the EPUB 3 that holds sound with its text: ${why}`,
    `convert it first: ebook-convert ${name} book3.epub --epub-version 3 (calibre)`,
  );
}

const DOCTYPE = /<!DOCTYPE\s[^<>[]{0,1000}>/iu;
const HTML_VERSION = /(<(?:\w{1,20}:)?html\b[^<>]{0,2000}?)\sversion\s*=\s*(?:"[^"<>]*"|'[^'<>]*')/iu;
/** Matches `meta` elements that EPUB 3 does not need: the encoding is that of the XML declaration, by default UTF-8. */
const HTTP_EQUIV = /<meta\s[^<>]{0,500}?http-equiv\s*=[^<>]{0,500}>(?:\s{0,100}<\/meta>)?/giu;
const ENTITY = /&([A-Za-z][A-Za-z\d]{1,31});/gu;
const OF_XML: ReadonlySet<string> = new Set(['amp', 'lt', 'gt', 'quot', 'apos']);
const NCX_UID = /<(?:\w{1,20}:)?meta\s[^<>]{0,2000}?["']dtb:uid["'][^<>]{0,2000}>/u;

const PROPERTIES: readonly (readonly [RegExp, string])[] = [
  [/<(?:\w{1,20}:)?svg[\s>/]/u, 'svg'],
  [/<(?:\w{1,20}:)?math[\s>/]/u, 'mathml'],
  [/<(?:\w{1,20}:)?script[\s>/]/u, 'scripted'],
];

/** Decodes an entity that only the document types of EPUB 2 define. An unknown one stays. */
function character(entity: string): string {
  let text = '';
  const parser = new Parser({ ontext: (part) => (text += part) }, { decodeEntities: true });
  parser.end(entity);
  return text;
}

interface Meta {
  readonly attributes: string;
  readonly value: string;
}

/** Turns attributes of EPUB 2 into `meta` elements that refine the element. Of several dates, keeps the publication date. */
function dublinCore(text: string, prefix: string, edits: Edit[]): readonly Meta[] {
  const all = elementsIn(text, 'dc').map((element) => ({
    ...element,
    attributes: attributesIn(element.tag),
  }));
  const dates = all.filter(({ name, content }) => name === 'dc:date' && content.trim() !== '');
  const eventOf = ({ attributes }: (typeof all)[number]) => attributes.get('opf:event');
  const date =
    dates.find((each) => eventOf(each) === 'publication') ??
    dates.find((each) => eventOf(each) === undefined) ??
    dates[0];
  const metas: Meta[] = [];
  for (const [number, element] of all.entries()) {
    const { at, end, tag, name, content, attributes } = element;
    if (content.trim() === '' || (name === 'dc:date' && element !== date)) {
      edits.push({ at, end, text: '', order: 0 });
      continue;
    }
    const id = attributes.get('id') ?? `${prefix}dc-${number + 1}`;
    const own = refinements(attributes).map(({ attributes: said, value }) => ({
      attributes: `refines="#${escaped(id)}" ${said}`,
      value,
    }));
    metas.push(...own);
    const kept = [...attributes].filter(([key]) => !key.includes(':') || /^xml(?:ns)?:/u.test(key));
    if (own.length > 0 && !attributes.has('id')) kept.push(['id', id]);
    const written = kept.map(([key, value]) => ` ${key}="${escaped(value)}"`).join('');
    edits.push({ at, end: at + tag.length, text: `<${name}${written}>`, order: 0 });
  }
  return metas;
}

function refinements(attributes: ReadonlyMap<string, string>): readonly Meta[] {
  const [fileAs, role] = [attributes.get('opf:file-as'), attributes.get('opf:role')];
  return [
    ...(fileAs ? [{ attributes: 'property="file-as"', value: fileAs }] : []),
    ...(role && /^[a-z]{3}$/u.test(role)
      ? [{ attributes: 'property="role" scheme="marc:relators"', value: role }]
      : []),
  ];
}
