import type { Contents } from './contents.ts';

/** One heading is the title of the book. */
const FEWEST_HEADINGS = 2;
const HEADING = /<(?:\w+:)?h[1-6][\s>]/giu;
const TITLE = /<(?:\w+:)?title\b[^<>]*>([^<]{1,300})</iu;

/** The chapters of a book without a table of contents: its headings, or else its documents. */
export async function withoutTable(
  documents: readonly string[],
  charactersOf: (path: string) => AsyncIterable<string>,
): Promise<Contents> {
  let headings = 0;
  const titles: (string | undefined)[] = [];
  for (const path of documents) {
    let title: string | undefined;
    for await (const text of charactersOf(path)) {
      title ??= TITLE.exec(text)?.[1]?.replace(/\s+/gu, ' ').trim();
      headings += text.match(HEADING)?.length ?? 0;
      if (headings >= FEWEST_HEADINGS) return { source: 'headings', entries: [] };
    }
    titles.push(title || undefined);
  }
  const counts = new Map<string | undefined, number>();
  for (const title of titles) counts.set(title, (counts.get(title) ?? 0) + 1);
  return {
    source: 'documents',
    entries: documents.map((path, at) => ({
      // A title that several documents have is that of the book.
      title: counts.get(titles[at]) === 1 ? titles[at] : undefined,
      level: 1,
      path,
      fragment: '',
    })),
  };
}
