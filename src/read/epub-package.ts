import { type TtsError, usageError } from '../kit/error.ts';
import { meaningsOf } from './html-elements.ts';
import { allIn, type Element, firstIn, plainText, treeOf } from './xml-tree.ts';
import type { Archive } from './zip.ts';

interface Item {
  readonly id: string;
  /** A path inside the archive. */
  readonly path: string;
  readonly mediaType: string;
  readonly properties: readonly string[];
  readonly fallback: string | undefined;
}

interface SpineItem {
  readonly path: string;
  /** False for a document outside the reading order, such as notes. */
  readonly isLinear: boolean;
}

export interface Package {
  /** The root of the package file. */
  readonly root: Element;
  /** The path of the package file. */
  readonly path: string;
  readonly items: ReadonlyMap<string, Item>;
  readonly spine: readonly SpineItem[];
  /** The number of reading-order entries that are not text documents. */
  readonly withoutText: number;
  /** True if the publisher fixes the layout of each page, as in picture books. */
  readonly hasFixedPages: boolean;
  /** The paths of the tables of contents in EPUB 3 and in EPUB 2; empty if the book has none. */
  readonly nav: string;
  readonly ncx: string;
}

/** Bytes of a package file; the largest one seen has 0.4 MB. */
const LARGEST_FILE = 4 * 1024 * 1024;

/** @throws TtsError (usage) for an archive that is not a book */
export async function openPackage(archive: Archive, name: string, signal: AbortSignal): Promise<Package> {
  const path = await packagePath(archive, name, signal);
  const opf = await archive.text(path, LARGEST_FILE, signal);
  if (opf === undefined) throw noBook(name, `${path} is missing or too large`);
  const root = treeOf(opf, `${path} in ${name}`);
  const items = itemsOf(root, path);
  const spineElement = firstIn(root, 'spine');
  const named = spineOf(spineElement, items);
  const spine = named.filter((item) => item !== undefined);
  if (named.length === 0) throw noBook(name, 'its reading order (spine) is empty');
  const ncxId = spineElement?.attributes.toc;
  const ncx = (ncxId && items.get(ncxId)) || [...items.values()].find((item) => item.mediaType === NCX);
  return {
    root,
    path,
    items,
    spine,
    withoutText: named.length - spine.length,
    hasFixedPages: hasFixedPages(root),
    nav: [...items.values()].find(({ properties }) => properties.includes('nav'))?.path ?? '',
    ncx: ncx?.path ?? '',
  };
}

const CONTAINER = 'META-INF/container.xml';
const PACKAGE = 'application/oebps-package+xml';
const NCX = 'application/x-dtbncx+xml';

/** Returns the path of the package file, of the first rendition if there are several. */
async function packagePath(archive: Archive, name: string, signal: AbortSignal): Promise<string> {
  const container = await archive.text(CONTAINER, LARGEST_FILE, signal);
  if (container === undefined) throw noBook(name, `${CONTAINER} is missing`);
  const files = [...allIn(treeOf(container, `${CONTAINER} in ${name}`), 'rootfile')];
  const file = files.find(({ attributes }) => attributes['media-type'] === PACKAGE) ?? files[0];
  const path = file && resolved('', file.attributes['full-path'] ?? '')?.path;
  if (!path) throw noBook(name, `${CONTAINER} names no package file`);
  return path;
}

function itemsOf(root: Element, packageFile: string): ReadonlyMap<string, Item> {
  const items = new Map<string, Item>();
  const manifest = firstIn(root, 'manifest');
  for (const { attributes } of manifest ? allIn(manifest, 'item') : []) {
    const path = resolved(packageFile, attributes.href ?? '')?.path;
    const { id } = attributes;
    if (path === undefined || id === undefined) continue;
    items.set(id, {
      id,
      path,
      mediaType: (attributes['media-type'] ?? '').trim().toLowerCase(),
      properties: (attributes.properties ?? '').split(/\s+/u),
      fallback: attributes.fallback,
    });
  }
  return items;
}

const SVG = 'image/svg+xml';
const TEXT =
  /^(?:application\/xhtml\+xml|text\/html|application\/x-dtbook\+xml|text\/x-oeb1-document|application\/xml|text\/xml)$/;

function spineOf(spine: Element | undefined, items: Package['items']): (SpineItem | undefined)[] {
  return [...(spine ? allIn(spine, 'itemref') : [])].map(({ attributes }) => {
    const item = textItem(items.get(attributes.idref ?? ''), items);
    return item && { path: item.path, isLinear: attributes.linear?.trim().toLowerCase() !== 'no' };
  });
}

function hasFixedPages(root: Element): boolean {
  for (const { attributes, text } of allIn(root, 'meta')) {
    if (attributes.property === 'rendition:layout' && text.trim() === 'pre-paginated') return true;
    if (attributes.name === 'fixed-layout' && attributes.content === 'true') return true;
  }
  return false;
}

/** Fallbacks to follow: a chain may lead back to its beginning. */
const MOST_FALLBACKS = 16;

/** Returns the item or a fallback that is text. If no media type fits, the ending decides. A drawing may hold text. */
function textItem(item: Item | undefined, items: Package['items']): Item | undefined {
  let next = item;
  for (let steps = 0; next && steps < MOST_FALLBACKS; steps += 1) {
    if (TEXT.test(next.mediaType)) return next;
    next = items.get(next.fallback ?? '');
  }
  return item && (item.mediaType === SVG || /\.x?html?$/i.test(item.path)) ? item : undefined;
}

/** @param base the path of the file with the reference */
export function resolved(base: string, href: string): { path: string; fragment: string } | undefined {
  const [target = '', fragment = ''] = splitFragment(href.trim());
  if (/^[a-z][a-z\d+.-]*:|^\/\//i.test(target)) return undefined;
  const parts = target === '' ? base.split('/') : [...folderOf(base, target), ...decoded(target).split('/')];
  const path: string[] = [];
  for (const part of parts) {
    if (part === '..') {
      if (path.pop() === undefined) return undefined;
    } else if (part !== '.' && part !== '') path.push(part);
  }
  return { path: path.join('/'), fragment: decoded(fragment) };
}

function folderOf(base: string, target: string): string[] {
  return target.startsWith('/') ? [] : base.split('/').slice(0, -1);
}

function splitFragment(href: string): readonly string[] {
  const at = href.indexOf('#');
  const [target = ''] = (at < 0 ? href : href.slice(0, at)).split('?', 1);
  return [target, at < 0 ? '' : href.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text).replaceAll('\\', '/');
  } catch {
    return text;
  }
}

function noBook(name: string, why: string): TtsError {
  return usageError(
    `${name} is not a book that can be read: ${why}`,
    'get the file again, or convert it first',
  );
}

/** An entry of a table of contents. */
export interface Entry {
  readonly title: string | undefined;
  /** From 1, the highest. */
  readonly level: number;
  readonly path: string;
  /** The id of the element where the chapter begins; empty for the start of the document. */
  readonly fragment: string;
}

export interface Contents {
  readonly source: 'nav' | 'ncx' | 'headings' | 'documents';
  readonly entries: readonly Entry[];
}

/** The role of a document in the book, such as `toc` or `titlepage`. */
export interface Landmark {
  readonly path: string;
  readonly fragment: string;
  readonly type: string;
}

const MOST_ENTRIES = 20_000;
/** In a book with more documents than this, a table of contents needs more than one entry. */
const FEW_DOCUMENTS = 3;

export interface Navigation {
  /** The book's tables of contents, best first. */
  readonly tables: readonly Contents[];
  /** Where the pages of the printed edition begin, according to the NCX. */
  readonly pages: readonly Entry[];
  readonly landmarks: readonly Landmark[];
}

export async function openNavigation(
  archive: Archive,
  book: Package,
  signal: AbortSignal,
): Promise<Navigation> {
  const treeOfFile = async (path: string, isXml: boolean) =>
    treeOf((await archive.text(path, LARGEST_FILE, signal)) ?? '', path, isXml);
  const { nav, ncx } = book;
  const navs = [...allIn(await treeOfFile(nav, false), 'nav')];
  const ofType = (type: string) => navs.find(({ attributes }) => meaningsOf(attributes).includes(type));
  const toc = ofType('toc') ?? navs.find(({ attributes }) => attributes['epub:type'] === undefined);
  const list = toc && firstIn(toc, 'ol');
  const landmarks = ofType('landmarks');
  const points = await treeOfFile(ncx, true);
  const [map, pages] = ['navMap', 'pageList'].map((name) => firstIn(points, name));
  const tables = [
    list && ({ source: 'nav', entries: firstOf(linesOf(list, nav, 1)) } as const),
    map && ({ source: 'ncx', entries: firstOf(pointsOf(map, ncx, 1)) } as const),
  ];
  return {
    tables: tables.filter((table) => table !== undefined),
    pages: pages ? firstOf(pointsOf(pages, ncx, 1)) : [],
    landmarks: [...(landmarks ? firstOf(landmarksOf(landmarks, nav)) : []), ...firstOf(guideOf(book))],
  };
}

function firstOf<T>(entries: Iterable<T>): readonly T[] {
  const first: T[] = [];
  for (const entry of entries) if (first.push(entry) >= MOST_ENTRIES) break;
  return first;
}

/** Titles of generated entries that every book has. */
const GENERATED_TITLES =
  /^\W*(?:(?:front |back )?cover(?: page)?|title ?page|start(?: (?:reading|here|page))?|begin(?:ning| reading)?|text|(?:table of )?contents|copyright(?: page)?)\W*$/iu;

/**
 * Keeps the entries that lead into the reading order.
 * @returns `undefined` for a table that does not divide the book
 */
export function usableContents(
  { source, entries }: Contents,
  spine: readonly string[],
): Contents | undefined {
  const documents = new Set(spine);
  const leading = entries.filter(({ path }) => documents.has(path));
  const dividing = leading.filter(({ title }) => !GENERATED_TITLES.test(title ?? ''));
  const places = new Set(dividing.map(({ path, fragment }) => `${path}#${fragment}`));
  const isEnough =
    places.size > 1 ||
    (places.size === 1 && documents.size <= FEW_DOCUMENTS) ||
    (leading.length > 0 && documents.size === 1);
  return isEnough ? { source, entries: leading } : undefined;
}

function* linesOf(list: Element, base: string, level: number): Generator<Entry> {
  for (const line of list.children.filter(({ name }) => name === 'li')) {
    const link = line.children.find(({ name }) => name === 'a') ?? linkOutsideLists(line);
    const target = link?.attributes.href === undefined ? undefined : resolved(base, link.attributes.href);
    if (link && target) yield { title: titleOf(link), level, ...target };
    for (const inner of line.children.filter(({ name }) => name === 'ol'))
      yield* linesOf(inner, base, level + 1);
  }
}

function linkOutsideLists({ children }: Element): Element | undefined {
  for (const child of children.filter(({ name }) => name !== 'ol')) {
    const link = firstIn(child, 'a');
    if (link) return link;
  }
  return undefined;
}

function titleOf(link: Element): string | undefined {
  const picture = firstIn(link, 'img');
  const title = plainText(link) || picture?.attributes.alt?.trim() || link.attributes.title?.trim();
  return title || undefined;
}

function* pointsOf(map: Element, base: string, level: number): Generator<Entry> {
  for (const point of map.children.filter(({ name }) => name === 'navPoint' || name === 'pageTarget')) {
    const label = point.children.find(({ name }) => name === 'navLabel');
    const source = point.children.find(({ name }) => name === 'content')?.attributes.src;
    const target = source === undefined ? undefined : resolved(base, source);
    if (target) yield { title: (label && plainText(label)) || undefined, level, ...target };
    yield* pointsOf(point, base, level + 1);
  }
}

function* landmarksOf(nav: Element, base: string): Generator<Landmark> {
  for (const link of allIn(nav, 'a')) {
    const target = resolved(base, link.attributes.href ?? '');
    if (target) for (const type of meaningsOf(link.attributes)) yield { ...target, type };
  }
}

function* guideOf({ root, path: base }: Package): Generator<Landmark> {
  const guide = firstIn(root, 'guide');
  for (const { attributes } of guide ? allIn(guide, 'reference') : []) {
    const target = resolved(base, attributes.href ?? '');
    const type = (attributes.type ?? '').trim().toLowerCase();
    if (target) yield { ...target, type: type === 'title-page' ? 'titlepage' : type };
  }
}

const ENCRYPTION = 'META-INF/encryption.xml';

/** Algorithms that obfuscate embedded fonts only, and no text. */
const OF_FONTS = new Set(['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC']);

/** Files by which the books of a DRM scheme are recognised. */
const SCHEMES: readonly (readonly [path: string, scheme: string])[] = [
  ['META-INF/license.lcpl', 'Readium LCP'],
  ['META-INF/sinf.xml', 'Apple FairPlay'],
  ['META-INF/rights.xml', 'Adobe ADEPT'],
];

/** @throws TtsError (usage) for a book whose documents are encrypted */
export async function assertNotEncrypted(
  archive: Archive,
  documents: readonly string[],
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const text = await archive.text(ENCRYPTION, LARGEST_FILE, signal);
  if (text === undefined) return;
  const read = new Set(documents);
  for (const data of allIn(treeOf(text, `${ENCRYPTION} in ${name}`), 'EncryptedData')) {
    const algorithm = firstIn(data, 'EncryptionMethod')?.attributes.Algorithm ?? 'an unknown algorithm';
    if (!OF_FONTS.has(algorithm) && pathsIn(data).some((path) => read.has(path)))
      throw encrypted(name, SCHEMES.find(([path]) => archive.has(path))?.[1] ?? algorithm);
  }
}

function pathsIn(data: Element): readonly string[] {
  return [...allIn(data, 'CipherReference')].flatMap(({ attributes }) => {
    const path = resolved('', attributes.URI ?? '')?.path;
    return path === undefined ? [] : [path];
  });
}

function encrypted(name: string, scheme: string): TtsError {
  return usageError(
    `${name} is protected (DRM: ${scheme}), and its text cannot be read`,
    'get the book without protection from its publisher or another shop',
  );
}
