/** The package file of a book that gets a narration. An older narration stays for documents that are not spoken now. */
import { usageError } from '../kit/error.ts';
import { escaped } from '../kit/words.ts';
import { openPackage, type Package, resolved } from '../read/epub-package.ts';
import { decodeMarkup } from '../read/html-charset.ts';
import { type Edit, edited, freePrefix } from '../read/spans.ts';
import { allIn, firstIn, treeOf } from '../read/xml-tree.ts';
import type { Archive } from '../read/zip.ts';
import { Epub3Upgrade } from './epub-three.ts';
import {
  ACTIVE,
  attributesIn,
  closing,
  elementsIn,
  highlightCss,
  itemsOf,
  linkFrom,
  metasOf,
  type Narration,
  overlayId,
  SMIL,
  tagsIn,
} from './overlays.ts';

/** Bytes. It also bounds an overlay. */
const LARGEST_PACKAGE = 4 * 1024 * 1024;

export interface NarratedPackage {
  readonly path: string;
  /** Set for an EPUB 2. */
  readonly upgrade: Epub3Upgrade | undefined;
  /** A prefix for new IDs, which no ID in the package file has. */
  readonly prefix: string;
  /** The CSS class of the highlighted element. */
  readonly active: string;
  /** The path of the style sheet that an older narration has added. */
  readonly style: string | undefined;
  replacedBy(narration: Narration): ReadonlySet<string>;
  /** Returns the new package file. @param nav path of the navigation document that an EPUB 2 gets */
  edit(narration: Narration, nav: string): string;
}

/** @throws TtsError (usage) for a book that cannot hold a narration */
export async function narratedPackage(
  archive: Archive,
  name: string,
  signal: AbortSignal,
): Promise<NarratedPackage> {
  const book = await openPackage(archive, name, signal);
  const { version = '' } = firstIn(book.root, 'package')?.attributes ?? {};
  if (!/^[23]/u.test(version))
    throw usageError(
      `${name} is an EPUB ${version || 'of an unknown version'}, and only EPUB 3 can hold sound with its text`,
      `convert it first: ebook-convert ${name} book3.epub --epub-version 3 (calibre)`,
    );
  const upgrade = version.startsWith('2') ? await Epub3Upgrade.open(archive, book, name, signal) : undefined;
  const text = decodeMarkup((await archive.whole(book.path, LARGEST_PACKAGE, signal)) ?? Buffer.alloc(0));
  const sounds = await soundsOf(archive, book, signal);
  const own = elementsIn(text, 'meta').find(
    ({ tag }) => attributesIn(tag).get('property') === 'media:active-class',
  );
  const active = own && CLASS.test(own.content.trim()) ? own.content.trim() : ACTIVE;
  return {
    path: book.path,
    upgrade,
    prefix: freePrefix(text),
    active,
    style: await styleOf(archive, book, highlightCss(active), signal),
    replacedBy: (narration) => replaced(text, book, sounds, narration).files,
    edit(narration, nav) {
      const three = upgrade ? upgrade.package(text, linkFrom(book.path, nav)) : text;
      return withNarration(three, book, narration, { ...replaced(text, book, sounds, narration), active });
    },
  };
}

/** Class names that are safe to write into a style sheet. */
const CLASS = /^[A-Za-z][\w-]{0,99}$/u;

async function styleOf(
  archive: Archive,
  { items }: Package,
  css: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const { path, mediaType } of items.values()) {
    const bytes = mediaType === 'text/css' ? await archive.whole(path, css.length, signal) : undefined;
    if (bytes?.toString() === css) return path;
  }
  return undefined;
}

/** Maps each overlay of the book to the sound files that it plays. */
async function soundsOf(
  archive: Archive,
  { items }: Package,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const sounds = new Map<string, ReadonlySet<string>>();
  for (const { path, mediaType } of items.values()) {
    if (mediaType !== SMIL) continue;
    const bytes = await archive.whole(path, LARGEST_PACKAGE, signal);
    const audio = bytes ? [...allIn(treeOf(decodeMarkup(bytes), path), 'audio')] : [];
    sounds.set(
      path,
      new Set(audio.flatMap(({ attributes }) => resolved(path, attributes.src ?? '')?.path ?? [])),
    );
  }
  return sounds;
}

interface Replaced {
  readonly ids: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
}

/** Finds the overlays of documents that get new ones, and the sound files that no other overlay plays. */
function replaced(
  text: string,
  { items }: Package,
  sounds: ReadonlyMap<string, ReadonlySet<string>>,
  { narrated }: Narration,
): Replaced {
  const spoken = new Set(narrated.map(({ path }) => path));
  const kept = new Set<string>();
  for (const { tag } of tagsIn(text, 'item')) {
    const attributes = attributesIn(tag);
    const [document, smil] = ['id', 'media-overlay'].map((key) => items.get(attributes.get(key) ?? ''));
    if (document && smil && !spoken.has(document.path)) kept.add(smil.path);
  }
  const smils = [...sounds].filter(([path]) => !kept.has(path));
  const heard = new Set([...kept].flatMap((path) => [...(sounds.get(path) ?? [])]));
  const played = smils.flatMap(([, paths]) => [...paths].filter((path) => !heard.has(path)));
  const files = new Set([...smils.map(([path]) => path), ...played]);
  return {
    files,
    ids: new Set([...items.values()].filter(({ path }) => files.has(path)).map(({ id }) => id)),
  };
}

function withNarration(
  text: string,
  { path, items }: Package,
  narration: Narration,
  { ids, active }: Replaced & { readonly active: string },
): string {
  const [manifest, metadata] = [closing(text, 'manifest'), closing(text, 'metadata')];
  const { narrated, prefix } = narration;
  const overlays = new Map(narrated.map(({ path: spoken }, at) => [spoken, overlayId(prefix, at)]));
  const edits: Edit[] = [];
  let isKept = false;
  for (const { at, tag } of tagsIn(text, 'item')) {
    const id = attributesIn(tag).get('id') ?? '';
    const smil = overlays.get(items.get(id)?.path ?? '');
    if (ids.has(id)) edits.push({ at, end: at + tag.length, text: '', order: 0 });
    else if (smil === undefined) isKept ||= attributesIn(tag).has('media-overlay');
    else {
      const old = /\smedia-overlay\s*=\s*(?:"[^"]*"|'[^']*')/u.exec(tag);
      const start = at + (old?.index ?? tag.search(/\s/u));
      edits.push({
        at: start,
        end: start + (old?.[0].length ?? 0),
        text: ` media-overlay="${smil}"`,
        order: 0,
      });
    }
  }
  const { seconds, edits: metaEdits } = oldMetas(text, ids, isKept);
  edits.push(...metaEdits);
  const added = [...itemsOf(narration, path)];
  edits.push({
    at: manifest.at,
    text: added.map((item) => `<${manifest.prefix}item ${item}/>\n`).join(''),
    order: 0,
  });
  const metas = metasOf(narration, { seconds, active }).map(
    ({ attributes, value }) =>
      `<${metadata.prefix}meta ${attributes}>${escaped(value)}</${metadata.prefix}meta>\n`,
  );
  edits.push({ at: metadata.at, text: metas.join(''), order: 0 });
  return edited(text, edits);
}

/** Finds the metadata of older narrations to remove, and the seconds of narration that stay. */
function oldMetas(
  text: string,
  ids: ReadonlySet<string>,
  isKept: boolean,
): { readonly seconds: number; readonly edits: readonly Edit[] } {
  let seconds = 0;
  const edits: Edit[] = [];
  for (const { at, end, tag, content } of elementsIn(text, 'meta')) {
    const attributes = attributesIn(tag);
    const [property = '', refines] = ['property', 'refines'].map((name) => attributes.get(name));
    const isGone = refines === undefined ? isOutdated(property, isKept) : ids.has(refines.replace(/^#/u, ''));
    if (isGone) edits.push({ at, end, text: '', order: 0 });
    else if (property === 'media:duration') seconds += secondsIn(content);
  }
  return { seconds, edits };
}

function isOutdated(property: string, isKept: boolean): boolean {
  if (property === 'media:narrator') return !isKept;
  return property === 'media:duration' || property === 'media:active-class';
}

const UNITS: Readonly<Record<string, number>> = { h: 3600, min: 60, s: 1, ms: 0.001 };

/** Reads a clock value of SMIL 3: `1:02:03.5`, `02:03`, `3.5s`, `90min`. */
function secondsIn(clock: string): number {
  const [, amount, unit = 's'] = /^\s*(\d+(?:\.\d+)?)(h|min|s|ms)?\s*$/u.exec(clock) ?? [];
  if (amount !== undefined) return Number(amount) * (UNITS[unit] ?? 1);
  const parts = /^\s*(?:(\d+):)?(\d{1,2}):(\d{1,2}(?:\.\d+)?)\s*$/u.exec(clock);
  if (!parts) return 0;
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  return 3600 * hours + 60 * minutes + seconds;
}
