import { isMark } from './notes.ts';

/** A link that looks like a reference to a note. */
export interface Link {
  readonly href: string;
  /** The text of the link, such as `1` or `*`. */
  readonly label: string;
  /** The names of the link itself: a note may lead back to them. */
  readonly ids: readonly string[];
  readonly isRaised: boolean;
  /** True if the link itself says that it refers to a note. */
  readonly saysReference: boolean;
}

/** What is known of a document before it is read. */
export interface Scan {
  /** Those of the wanted names that its elements have. */
  readonly ids: ReadonlySet<string>;
  readonly links: readonly Link[];
}

const NAMED = /[\s"'](?:xml:)?(?:id|name)\s*=\s*(?:"([^"]{1,500})"|'([^']{1,500})')/giu;
const HREF = /\shref\s*=\s*(?:"([^"]{1,500})"|'([^']{1,500})')/iu;
/** UTF-16 units that a link, or the beginning of an attribute, may have. */
const LONGEST_LINK = 1000;
/** UTF-16 units in front of a link that may raise or name it. */
const BEFORE = 150;
const MOST_LINKS = 50_000;

/**
 * Looks through a document with patterns, which is quicker than taking it apart.
 * @param wanted names of elements that something refers to
 */
export async function scanned(text: AsyncIterable<string>, wanted: ReadonlySet<string>): Promise<Scan> {
  const ids = new Set<string>();
  const links: Link[] = [];
  let rest = '';
  let searched = 0;
  for await (const piece of text) {
    const all = rest + piece;
    if (ids.size < wanted.size) findNames(all, wanted, ids);
    const end = Math.max(0, all.length - LONGEST_LINK);
    if (links.length < MOST_LINKS) findLinks(all, searched, end, links);
    const start = Math.max(0, end - BEFORE);
    rest = all.slice(start);
    searched = Math.max(searched, end) - start;
  }
  findLinks(rest, searched, rest.length, links);
  return { ids, links };
}

function findNames(text: string, wanted: ReadonlySet<string>, ids: Set<string>): void {
  for (const [, double, single] of text.matchAll(NAMED)) {
    const name = double ?? single ?? '';
    if (wanted.has(name)) ids.add(name);
  }
}

function findLinks(text: string, from: number, end: number, links: Link[]): void {
  for (let at = text.indexOf('<a', from); at >= 0 && at < end; at = text.indexOf('<a', at + 2)) {
    const link = linkAt(text, at);
    if (link) links.push(link);
  }
}

function linkAt(text: string, at: number): Link | undefined {
  const source = text.slice(at, at + LONGEST_LINK);
  const tagEnd = source.indexOf('>');
  const end = source.search(/<\/a\s*>/iu);
  if (!/^<a\s/iu.test(source) || tagEnd < 0 || end < tagEnd) return undefined;
  const label = source
    .slice(tagEnd + 1, end)
    .replace(/<[^>]*>/gu, '')
    .trim();
  const [, double, single] = HREF.exec(source.slice(0, tagEnd)) ?? [];
  const href = double ?? single ?? '';
  if (!href.includes('#') || !isMark(label)) return undefined;
  const before =
    /<(?:sup|span|small|b|i|em|strong)\b[^<>]{0,140}>\s*$/iu.exec(
      text.slice(Math.max(0, at - BEFORE), at),
    )?.[0] ?? '';
  const named = [...(before + source.slice(0, end)).matchAll(NAMED)];
  return {
    href,
    label,
    ids: named.map(([, one, other]) => one ?? other ?? ''),
    saysReference: /noteref|footnote-?(?:ref|anchor)|fnref/iu.test(before + source.slice(0, tagEnd)),
    isRaised: /^<sup\b/iu.test(before) || /<sup\b/iu.test(source.slice(0, end)),
  };
}
