import type { Package } from './epub-package.ts';
import type { About } from './reading.ts';
import { allIn, type Element, firstIn, plainText, treeOf } from './xml-tree.ts';
import { Archive, type Location } from './zip.ts';

/** Bytes. Players do not show a larger cover. */
const LARGEST_COVER = 32 * 1024 * 1024;

/** Returns the metadata of a book from its package file. The cover is read on demand. */
export function aboutBook({ root, items }: Package, name: string, location: Location): About {
  const metadata = firstIn(root, 'metadata') ?? root;
  const metas = [...allIn(metadata, 'meta')];
  const refinements = refinementsOf(metas);
  const cover = coverPath(items, metas);
  return {
    title: titleOf(metadata, refinements),
    author: authorsOf(metadata, refinements),
    language: firstText(metadata, 'language'),
    date: dateOf(metadata),
    description: descriptionOf(metadata, name),
    series: seriesOf(metas, refinements),
    ...(cover !== undefined && {
      async cover(signal) {
        using archive = await Archive.open(name, location, signal);
        return archive.whole(cover, LARGEST_COVER, signal);
      },
    }),
  };
}

/** What the `meta` elements of EPUB 3 add to other elements, by reference and property. */
type Refinements = ReadonlyMap<string, string>;

function firstText(metadata: Element, name: string): string | undefined {
  for (const element of allIn(metadata, name)) {
    const text = plainText(element);
    if (text !== '') return text;
  }
  return undefined;
}

/** If a property is repeated, the first one counts. */
function refinementsOf(metas: readonly Element[]): Refinements {
  const all = new Map<string, string>();
  for (const meta of metas) {
    const { refines, property } = meta.attributes;
    const key = `${refines} ${property}`;
    if (!all.has(key)) all.set(key, plainText(meta));
  }
  return all;
}

function refined(all: Refinements, { attributes: { id } }: Element, property: string): string | undefined {
  return all.get(`#${id} ${property}`);
}

function titleOf(metadata: Element, refinements: Refinements): string | undefined {
  const titles = [...allIn(metadata, 'title')];
  const main = titles.find(
    (title) => refined(refinements, title, 'title-type') === 'main' && plainText(title) !== '',
  );
  return main ? plainText(main) : firstText(metadata, 'title');
}

/** A creator without a role is an author. */
function authorsOf(metadata: Element, refinements: Refinements): string | undefined {
  const creators = [...allIn(metadata, 'creator')].filter((creator) => plainText(creator) !== '');
  const roleOf = (creator: Element) =>
    creator.attributes.role ?? refined(refinements, creator, 'role') ?? 'aut';
  const authors = creators.filter((creator) => roleOf(creator) === 'aut');
  const names = (authors.length > 0 ? authors : creators).map(plainText);
  return names.length === 0 ? undefined : names.join(', ');
}

/** @returns the date of publication, of which players show the year */
function dateOf(metadata: Element): string | undefined {
  const dates = [...allIn(metadata, 'date')].filter(({ attributes: { event } }) => event !== 'modification');
  const [date] = dates.map(plainText).filter((text) => /^\d{4}/.test(text));
  return date?.split('T', 1)[0];
}

/** Descriptions are often HTML. */
function descriptionOf(metadata: Element, name: string): string | undefined {
  const text = firstText(metadata, 'description');
  return text && (plainText(treeOf(text, name, false)) || undefined);
}

function seriesOf(metas: readonly Element[], refinements: Refinements): About['series'] {
  const named = (wanted: string) =>
    metas.find(({ attributes }) => attributes.name === wanted)?.attributes.content;
  const calibre = named('calibre:series')?.trim();
  if (calibre) return { name: calibre, number: named('calibre:series_index')?.replace(/\.0+$/, '') };
  const collection = metas.find(({ attributes }) => attributes.property === 'belongs-to-collection');
  if (!collection || plainText(collection) === '') return undefined;
  return { name: plainText(collection), number: refined(refinements, collection, 'group-position') };
}

function coverPath(items: Package['items'], metas: readonly Element[]): string | undefined {
  const all = [...items.values()];
  const named = metas.find(({ attributes }) => attributes.name === 'cover')?.attributes.content;
  const isPicture = ({ mediaType }: { mediaType: string }) => mediaType.startsWith('image/');
  const found =
    all.find(({ properties }) => properties.includes('cover-image')) ??
    (named === undefined ? undefined : items.get(named)) ??
    all.find((item) => /^cover/i.test(item.id) && isPicture(item));
  return found && isPicture(found) ? found.path : undefined;
}
