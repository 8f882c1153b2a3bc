import type { Entry, Landmark } from './contents.ts';

/** Parts of a book that are looked at and not read, by what the book itself calls them. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['cover', 'cover'],
  ['titlepage', 'title page'],
  ['halftitlepage', 'half title'],
  ['imprint', 'imprint'],
  ['copyright-page', 'copyright page'],
  ['colophon', 'colophon'],
  ['toc', 'contents'],
  ['loi', 'list of illustrations'],
  ['lot', 'list of tables'],
  ['loa', 'list of audio'],
  ['lov', 'list of videos'],
  ['bibliography', 'bibliography'],
  ['index', 'index'],
]);

/** @returns what the part is called, `undefined` for a part that is read */
export function leftOutAs(meanings: readonly string[]): string | undefined {
  for (const meaning of meanings) {
    const kind = KINDS.get(meaning);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** The documents that are left out as a whole. A document with several chapters is none of them. */
export function documentsLeftOut(
  landmarks: readonly Landmark[],
  chapters: readonly Entry[],
): ReadonlyMap<string, string> {
  const begun = new Set<string>();
  const several = new Set<string>();
  for (const { path } of chapters) (begun.has(path) ? several : begun).add(path);
  const read = new Set(landmarks.filter(({ type }) => isText(type)).map(({ path }) => path));
  const found = new Map<string, string>();
  for (const { path, fragment, type } of landmarks) {
    const kind = KINDS.get(type);
    if (kind !== undefined && fragment === '' && !read.has(path) && !several.has(path)) found.set(path, kind);
  }
  return found;
}

function isText(type: string): boolean {
  return type === 'text' || type === 'bodymatter' || type === 'start';
}
