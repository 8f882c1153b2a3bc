import { skippedNotes } from '../html/notes.ts';
import type { Contents } from './contents.ts';

const CHAPTERS: Readonly<Record<Contents['source'], string>> = {
  nav: 'the chapters are those of the table of contents (nav)',
  ncx: 'the chapters are those of the table of contents (NCX)',
  headings: 'no table of contents divides the book: its headings begin the chapters',
  documents: 'no table of contents divides the book, and no headings: each of its documents is a chapter',
};

/** What there is to say of a book that was read. */
export function* remarksOn(
  source: Contents['source'],
  leftOut: ReadonlySet<string>,
  notes: number,
): Generator<string> {
  yield CHAPTERS[source];
  if (leftOut.size > 0) yield `left out: ${[...leftOut].join(', ')}; --all reads what is left out`;
  const skipped = skippedNotes(notes);
  if (skipped !== undefined) yield skipped;
}
