import type { Archive } from './archive.ts';
import { type Package, resolved, textOf } from './package.ts';
import { allIn, type Element, firstIn, plainText, treeOf } from './tree.ts';

/** One line of a table of contents. */
export interface Entry {
  readonly title: string | undefined;
  /** 1 is the highest. */
  readonly level: number;
  readonly path: string;
  /** The element where the chapter begins; empty for the beginning of the document. */
  readonly fragment: string;
}

export interface Contents {
  readonly source: 'nav' | 'ncx' | 'headings' | 'documents';
  readonly entries: readonly Entry[];
}

/** What the book says of a whole document: `toc`, `titlepage`. */
export interface Landmark {
  readonly path: string;
  readonly fragment: string;
  readonly type: string;
}

const MOST_ENTRIES = 20_000;
/** A table of contents with one line is none, in a book of more documents. */
const FEW_DOCUMENTS = 3;

export interface Navigation {
  /** The tables of contents that the book has, the best first. */
  readonly tables: readonly Contents[];
  readonly landmarks: readonly Landmark[];
}

export async function openNavigation(
  archive: Archive,
  book: Package,
  signal: AbortSignal,
): Promise<Navigation> {
  const nav = [...book.items.values()].find(({ properties }) => properties.includes('nav'))?.path;
  const [fromNav, marks] = nav === undefined ? [] : await readNav(archive, nav, signal);
  const fromNcx = book.ncx === undefined ? undefined : await readNcx(archive, book.ncx, signal);
  return {
    tables: [fromNav, fromNcx].filter((table) => table !== undefined),
    landmarks: [...(marks ?? []), ...firstOf(guideOf(book))],
  };
}

async function readNav(
  archive: Archive,
  path: string,
  signal: AbortSignal,
): Promise<[Contents | undefined, readonly Landmark[]] | []> {
  const text = await textOf(archive, path, signal);
  if (text === undefined) return [];
  const navs = [...allIn(treeOf(text, path, false), 'nav')];
  const ofType = (type: string) => navs.find((each) => typesOf(each).includes(type));
  const toc = ofType('toc') ?? navs.find(({ attributes }) => attributes['epub:type'] === undefined);
  const list = toc && firstIn(toc, 'ol');
  const landmarks = ofType('landmarks');
  return [
    list && { source: 'nav', entries: firstOf(linesOf(list, path, 1)) },
    landmarks ? firstOf(marksOf(landmarks, path)) : [],
  ];
}

async function readNcx(archive: Archive, path: string, signal: AbortSignal): Promise<Contents | undefined> {
  const text = await textOf(archive, path, signal);
  const map = text === undefined ? undefined : firstIn(treeOf(text, path), 'navMap');
  return map && { source: 'ncx', entries: firstOf(pointsOf(map, path, 1)) };
}

function firstOf<T>(entries: Iterable<T>): readonly T[] {
  const first: T[] = [];
  for (const entry of entries) if (first.push(entry) >= MOST_ENTRIES) break;
  return first;
}

/**
 * The lines that lead into the reading order.
 * @returns `undefined` for a table that does not divide the book
 */
export function usable({ source, entries }: Contents, spine: readonly string[]): Contents | undefined {
  const documents = new Set(spine);
  const leading = entries.filter(({ path }) => documents.has(path));
  const places = new Set(leading.map(({ path, fragment }) => `${path}#${fragment}`));
  const isEnough = places.size > 1 || (places.size === 1 && documents.size <= FEW_DOCUMENTS);
  return isEnough ? { source, entries: leading } : undefined;
}

function typesOf({ attributes }: Element): string[] {
  return `${attributes['epub:type'] ?? attributes.type ?? ''} ${attributes.role ?? ''}`
    .toLowerCase()
    .split(/\s+/u)
    .filter((type) => type !== '')
    .map((type) => type.replace(/^doc-/u, ''));
}

function* linesOf(list: Element, base: string, level: number): Generator<Entry> {
  for (const line of list.children.filter(({ name }) => name === 'li')) {
    const link = line.children.find(({ name }) => name === 'a') ?? linkOutsideLists(line);
    const target = link?.attributes.href === undefined ? undefined : resolved(base, link.attributes.href);
    if (link && target) yield { title: labelOf(link), level, ...target };
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

function labelOf(link: Element): string | undefined {
  const picture = firstIn(link, 'img');
  const title = plainText(link) || picture?.attributes.alt?.trim() || link.attributes.title?.trim();
  return title || undefined;
}

function* pointsOf(map: Element, base: string, level: number): Generator<Entry> {
  for (const point of map.children.filter(({ name }) => name === 'navPoint')) {
    const label = point.children.find(({ name }) => name === 'navLabel');
    const source = point.children.find(({ name }) => name === 'content')?.attributes.src;
    const target = source === undefined ? undefined : resolved(base, source);
    if (target) yield { title: (label && plainText(label)) || undefined, level, ...target };
    yield* pointsOf(point, base, level + 1);
  }
}

function* marksOf(nav: Element, base: string): Generator<Landmark> {
  for (const link of allIn(nav, 'a')) {
    const target = resolved(base, link.attributes.href ?? '');
    if (target) for (const type of typesOf(link)) yield { ...target, type };
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
