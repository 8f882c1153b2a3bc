import { skippedNotes } from '../html/notes.ts';
import type { Contents } from './contents.ts';

const CHAPTERS: Readonly<Record<Contents['source'], string>> = {
  nav: 'the chapters are those of the table of contents (nav)',
  ncx: 'the chapters are those of the table of contents (NCX)',
  headings: 'no table of contents divides the book: its headings begin the chapters',
  documents: 'no table of contents divides the book, and no headings: each of its documents is a chapter',
};

/** What there is to say of a book, apart from its chapters. */
export interface Omissions {
  readonly leftOut: ReadonlySet<string>;
  /** The number of notes that were not read. */
  readonly notes: number;
  /** The number of places in the reading order without a document of text. */
  readonly missing: number;
  readonly hasFixedPages: boolean;
}

/** What there is to say of a book that was read. */
export function* remarksOn(
  source: Contents['source'],
  { leftOut, notes, missing, hasFixedPages }: Omissions,
): Generator<string> {
  yield CHAPTERS[source];
  if (leftOut.size > 0) yield `left out: ${[...leftOut].join(', ')}; --all reads what is left out`;
  const skipped = skippedNotes(notes);
  if (skipped !== undefined) yield skipped;
  if (missing > 0) yield `the reading order names ${documents(missing)} not in the book, or not text`;
  if (hasFixedPages)
    yield 'its pages have a fixed layout, so the order of its text may not be that of the page';
}

function documents(count: number): string {
  return count === 1 ? 'a document that is' : `${count} documents that are`;
}
