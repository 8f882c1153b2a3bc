/** What is known of a document before it is read. */
export interface Scan {
  /** Those of the wanted names that its elements have. */
  readonly ids: ReadonlySet<string>;
}

const NAMED = /[\s"'](?:xml:)?(?:id|name)\s*=\s*(?:"([^"]{1,500})"|'([^']{1,500})')/giu;
/** UTF-16 units that may be the beginning of an attribute. */
const OVERLAP = 600;

/** @param wanted names of elements that something refers to */
export async function scanned(text: AsyncIterable<string>, wanted: ReadonlySet<string>): Promise<Scan> {
  const ids = new Set<string>();
  let rest = '';
  for await (const piece of text) {
    const all = rest + piece;
    for (const [, double, single] of all.matchAll(NAMED)) {
      const name = double ?? single ?? '';
      if (wanted.has(name)) ids.add(name);
    }
    rest = all.slice(-OVERLAP);
    if (ids.size === wanted.size) break;
  }
  return { ids };
}
