import { type TtsError, usageError } from '../../error.ts';
import { HeadingChapters } from '../../text/chapters/headings.ts';
import { inTurn, through } from '../../text/live.ts';
import { labelOf, type Piece } from '../../text/piece.ts';
import { MarkupDecoder } from '../html/decode.ts';
import { FoundNotes } from '../html/found-notes.ts';
import { indexed } from '../html/note-index.ts';
import { scanned } from '../html/scan.ts';
import type { Reading, ReadingOptions, Source } from '../reading.ts';
import { aboutBook } from './about.ts';
import { Archive, type Location } from './archive.ts';
import { BookText, type EpubOptions } from './book-text.ts';
import { type Contents, openNavigation, usable } from './contents.ts';
import { openDocument } from './documents.ts';
import { documentsLeftOut } from './left-out.ts';
import { openPackage, type Package, resolved } from './package.ts';
import { assertOpen } from './protection.ts';
import { type Omissions, remarksOn } from './remarks.ts';
import { locationOf } from './spool.ts';
import { withoutTable } from './without-table.ts';

/**
 * Looks at what the book says of itself. Its documents are read when their turn comes.
 * @throws TtsError (usage) for what is not a book, and for one that is protected
 */
export async function openEpub(source: Source, options: EpubOptions, signal: AbortSignal): Promise<Reading> {
  const name = labelOf(source.name);
  const location = await locationOf(source, signal);
  using archive = await Archive.open(name, location, signal);
  const content = await openPackage(archive, name, signal);
  const documents = documentsOf(archive, content, options);
  if (documents.length === 0) throw noText(name);
  await assertOpen(archive, documents, name, signal);
  const { tables, landmarks } = await openNavigation(archive, content, signal);
  const leftOut = new Map(options.readsAll ? [] : documentsLeftOut(landmarks, tables[0]?.entries ?? []));
  for (const { path, properties } of content.items.values())
    if (properties.includes('nav') && !options.readsAll) leftOut.set(path, 'contents');
  const read = documents.filter((path) => !leftOut.has(path));
  const contents =
    tables.map((table) => usable(table, read)).find((table) => table !== undefined) ??
    (await withoutTable(read, (path) =>
      through(archive.bytes(path, signal), new MarkupDecoder(`${path} in ${name}`)),
    ));
  const book = new Book(source, location, options, {
    contents,
    documents: read,
    missing: content.withoutText + content.spine.filter(({ path }) => !archive.has(path)).length,
    hasFixedPages: content.hasFixedPages,
    leftOut: [
      ...documents.flatMap((path) => leftOut.get(path) ?? []),
      ...(options.readsAll ? [] : besideOrder(content, leftOut)),
    ],
  });
  const about = aboutBook(content, name, location);
  return {
    source,
    about,
    pieces(until, how) {
      const pieces = book.pieces(until, how);
      return contents.source === 'headings' ? through(pieces, new HeadingChapters()) : pieces;
    },
  };
}

/** @throws TtsError (usage) for documents that are too large */
function documentsOf(archive: Archive, { spine }: Package, { readsAll }: EpubOptions): readonly string[] {
  const read = spine.filter(({ path, isLinear }) => archive.has(path) && (isLinear || readsAll));
  const paths = read.map(({ path }) => path);
  archive.assertAllReadable(paths);
  return paths;
}

/** @returns what is said of documents that the book itself puts outside its reading order */
function besideOrder({ spine }: Package, leftOut: ReadonlyMap<string, string>): readonly string[] {
  const isBeside = spine.some(({ path, isLinear }) => !isLinear && !leftOut.has(path));
  return isBeside ? ['documents outside the reading order'] : [];
}

function noText(name: string): TtsError {
  return usageError(
    `${name} holds no text to read`,
    'a book of pictures has none; --all reads title pages and the like',
  );
}

interface Plan extends Pick<Omissions, 'missing' | 'hasFixedPages'> {
  readonly contents: Contents;
  /** The documents that are read, in their order. */
  readonly documents: readonly string[];
  /** What the book calls the documents that are not. */
  readonly leftOut: readonly string[];
}

/** Bytes of documents that are taken apart in search of notes. A document with notes for all others is one of them. */
const MOST_SEARCHED = 128 * 1024 * 1024;

class Book {
  readonly #source: string;
  readonly #name: string;
  readonly #location: Location;
  readonly #options: EpubOptions;
  readonly #plan: Plan;

  constructor({ name }: Source, location: Location, options: EpubOptions, plan: Plan) {
    this.#source = name;
    this.#name = labelOf(name);
    this.#location = location;
    this.#options = options;
    this.#plan = plan;
  }

  async *pieces(signal: AbortSignal, { inFront, onRemark }: ReadingOptions = {}): AsyncGenerator<Piece> {
    using archive = await Archive.open(this.#name, this.#location, signal);
    const open = (path: string) => openDocument(archive, path, this.#name, signal);
    const text = new BookText(this.#source, this.#plan.contents, this.#options);
    let searched = 0;
    const notes = new FoundNotes({
      readsNotes: this.#options.readsNotes,
      resolve: (href, from) => resolved(from, href),
      index: async (path) => {
        searched += archive.sizeOf(path);
        const isSearched = archive.has(path) && searched <= MOST_SEARCHED;
        return isSearched ? indexed((await open(path))(), `${path} in ${this.#name}`) : undefined;
      },
    });
    const said = new Set<string>();
    let skipped = 0;
    for (const path of this.#plan.documents) {
      const characters = await open(path);
      const { ids, links } = await scanned(characters(), text.fragmentsIn(path));
      await notes.prepare(path, links);
      const inDocument = notes.of(path, said);
      const document = text.document(path, ids, inDocument);
      yield* through(characters(), inFront ? inTurn(inFront, document) : document);
      skipped += inDocument.skipped;
    }
    if (!text.hasText) throw noText(this.#name);
    const leftOut = new Set([...this.#plan.leftOut, ...text.leftOut]);
    const omissions = { ...this.#plan, leftOut, notes: skipped };
    for (const remark of remarksOn(this.#plan.contents.source, omissions)) onRemark?.(remark);
  }
}
