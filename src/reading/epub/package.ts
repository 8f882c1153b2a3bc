import { type TtsError, usageError } from '../../error.ts';
import { decodeMarkup } from '../html/decode.ts';
import type { Archive } from './archive.ts';
import { allIn, type Element, firstIn, treeOf } from './tree.ts';

interface Item {
  readonly id: string;
  /** It is a path inside the archive. */
  readonly path: string;
  readonly mediaType: string;
  readonly properties: readonly string[];
  readonly fallback: string | undefined;
}

/** One document of the reading order. */
interface SpineItem {
  readonly path: string;
  /** False for a document outside the reading order, such as a note. */
  readonly isLinear: boolean;
}

export interface Package {
  /** The root of the package file. */
  readonly root: Element;
  /** The path of the package file. */
  readonly path: string;
  readonly items: ReadonlyMap<string, Item>;
  readonly spine: readonly SpineItem[];
  /** The number of entries of the reading order that name no document of text. */
  readonly withoutText: number;
  /** The publisher sets the place of each line on a page, as in a book of pictures. */
  readonly hasFixedPages: boolean;
  /** The path of the NCX. */
  readonly ncx: string | undefined;
}

/** Bytes of a package file. The largest one seen has 0.4 MB. */
const LARGEST_FILE = 4 * 1024 * 1024;

/**
 * @returns `undefined` for a file that is missing, or larger than any that was seen
 * @throws TtsError (usage) for one that is damaged
 */
export async function textOf(
  archive: Archive,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const bytes = await archive.whole(path, LARGEST_FILE, signal);
  return bytes && decodeMarkup(bytes);
}

/** @throws TtsError (usage) for an archive that is not a book */
export async function openPackage(archive: Archive, name: string, signal: AbortSignal): Promise<Package> {
  const path = await packagePath(archive, name, signal);
  const opf = await textOf(archive, path, signal);
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
    ncx: ncx?.path,
  };
}

const CONTAINER = 'META-INF/container.xml';
const PACKAGE = 'application/oebps-package+xml';
const NCX = 'application/x-dtbncx+xml';

/** Of several renditions, the first one is read. */
async function packagePath(archive: Archive, name: string, signal: AbortSignal): Promise<string> {
  const container = await textOf(archive, CONTAINER, signal);
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

/** A chain of them may lead back to its beginning. */
const MOST_FALLBACKS = 16;

/** An item that is not text has a fallback that is, or it is skipped. Where no type is right, the ending counts. */
function textItem(item: Item | undefined, items: Package['items']): Item | undefined {
  let next = item;
  for (let steps = 0; next && steps < MOST_FALLBACKS; steps += 1) {
    if (TEXT.test(next.mediaType)) return next;
    next = items.get(next.fallback ?? '');
  }
  return item && /\.x?html?$/i.test(item.path) ? item : undefined;
}

/** @param base the path of the file that holds the reference */
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
