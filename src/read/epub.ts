import { type TtsError, usageError } from '../kit/error.ts';
import { chapterLevelOf, HeadingChapters } from '../text/chapters.ts';
import { labelOf, type Piece, type PlaceInBook } from '../text/piece.ts';
import { behind, type Stage, through } from '../text/stage.ts';
import { aboutBook } from './epub-about.ts';
import {
  assertNotEncrypted,
  type Contents,
  type Entry,
  type Landmark,
  openNavigation,
  openPackage,
  type Package,
  resolved,
  usableContents,
} from './epub-package.ts';
import { type MarkupBook, markupBook } from './gutenberg.ts';
import { Blocks, type ChapterStart, type Rules } from './html-blocks.ts';
import { damagedBytes, MarkupDecoder } from './html-charset.ts';
import { FoundNotes, indexNotes, type Notes, skippedNotes } from './html-notes.ts';
import { Markup } from './html-parse.ts';
import type { HtmlOptions, PieceOptions, Reading, Source } from './reading.ts';
import { plainText, treeOf } from './xml-tree.ts';
import { Archive, type Location, locationOf } from './zip.ts';

/**
 * Reads the book's metadata and navigation. Its documents are only read when their turn comes.
 * @throws TtsError (usage) for anything but a book, and for a protected one
 */
export async function openEpub(source: Source, options: HtmlOptions, signal: AbortSignal): Promise<Reading> {
  const name = labelOf(source.name);
  const location = await locationOf(source, signal);
  using archive = await Archive.open(name, location, signal);
  const content = await openPackage(archive, name, signal);
  const about = aboutBook(content, name, location);
  const plan = await planOf(archive, content, options, { name, signal });
  return {
    source,
    about,
    book: { name, location },
    async *pieces(until, how) {
      const read = (said?: PieceOptions) => {
        const gutenberg = options.readsAll ? undefined : markupBook(said?.onRemark ?? (() => {}));
        const book = { source: source.name, location, options, gutenberg, language: about.language };
        const text = piecesOf(plan, book, until, said);
        return gutenberg ? through(text, gutenberg) : text;
      };
      const isDivided = plan.contents.source !== 'headings';
      yield* isDivided ? read(how) : through(read(how), new HeadingChapters(await chapterLevelOf(read())));
    },
  };
}

interface Plan {
  readonly contents: Contents;
  /** The documents to read, in order. */
  readonly documents: readonly string[];
  /** What the book calls the documents that are left out. */
  readonly leftOut: readonly string[];
  /** The number of entries in the reading order without a text document. */
  readonly missing: number;
  readonly hasFixedPages: boolean;
}

async function planOf(
  archive: Archive,
  content: Package,
  { readsAll }: HtmlOptions,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<Plan> {
  const { spine, items, withoutText, hasFixedPages } = content;
  const inOrder = spine.filter(({ path, isLinear }) => archive.has(path) && (isLinear || readsAll));
  const documents = inOrder.map(({ path }) => path);
  archive.assertAllReadable(documents);
  if (documents.length === 0) throw noText(name);
  await assertNotEncrypted(archive, documents, name, signal);
  const { tables, landmarks } = await openNavigation(archive, content, signal);
  const leftOut = new Map(readsAll ? [] : documentsLeftOut(landmarks, tables[0]?.entries ?? []));
  for (const { path, properties } of items.values())
    if (properties.includes('nav') && !readsAll) leftOut.set(path, 'contents');
  const read = documents.filter((path) => !leftOut.has(path));
  const isBeside = !readsAll && spine.some(({ path, isLinear }) => !isLinear && !leftOut.has(path));
  const charactersOf = (path: string) =>
    through(archive.bytes(path, signal), new MarkupDecoder(`${path} in ${name}`));
  return {
    contents:
      tables.map((table) => usableContents(table, read)).find((table) => table !== undefined) ??
      (await contentsWithoutTable(read, charactersOf)),
    documents: read,
    leftOut: [
      ...documents.flatMap((path) => leftOut.get(path) ?? []),
      ...(isBeside ? ['documents outside the reading order'] : []),
    ],
    missing: withoutText + spine.filter(({ path }) => !archive.has(path)).length,
    hasFixedPages,
  };
}

function noText(name: string): TtsError {
  return usageError(
    `${name} holds no text to read`,
    'a book of pictures has none; --all reads title pages and the like',
  );
}

/** Bytes of other documents that are parsed in search of notes, such as one with the notes of the whole book. */
const MOST_SEARCHED = 128 * 1024 * 1024;

interface Book {
  readonly source: string;
  readonly location: Location;
  readonly options: HtmlOptions;
  /** Leaves out what Project Gutenberg adds to a text. */
  readonly gutenberg: MarkupBook | undefined;
  /** The language of the book as a whole. */
  readonly language: string | undefined;
}

async function* piecesOf(
  plan: Plan,
  book: Book,
  signal: AbortSignal,
  { filter, onRemark, languageMark }: PieceOptions = {},
): AsyncGenerator<Piece> {
  const { source, location, options } = book;
  const name = labelOf(source);
  using archive = await Archive.open(name, location, signal);
  /** Undecodable characters per document. */
  const damaged = new Map<string, number>();
  const open = (path: string) =>
    openDocument(archive, path, { name, onDamage: (count) => damaged.set(path, count) }, signal);
  const text = new BookText(book, plan.contents, languageMark);
  let searched = 0;
  const notes = new FoundNotes({
    readsNotes: options.readsNotes,
    resolve: (href, from) => resolved(from, href),
    index: async (path) => {
      searched += archive.sizeOf(path);
      return searched <= MOST_SEARCHED ? indexNotes((await open(path))(), `${path} in ${name}`) : undefined;
    },
  });
  const said = new Set<string>();
  const ofPictures: string[] = [];
  let skipped = 0;
  for (const path of plan.documents) {
    const characters = await open(path);
    const isAsked = text.hasPlaces(path) || (await mayRefer(characters()));
    const index = isAsked ? await indexNotes(characters(), `${path} in ${name}`) : undefined;
    if (index) await notes.prepare(path, index);
    const inDocument = notes.of(path, said);
    if (!options.readsNotes && !options.readsAll && index?.isOfNotes((id) => inDocument.isNote(id))) {
      text.leftOut.add('notes');
      continue;
    }
    const document = text.document(path, index?.ids ?? new Set(), inDocument);
    yield* through(characters(), behind(filter, document));
    skipped += inDocument.skipped;
    if (text.isOfPictures) ofPictures.push(path);
  }
  if (!text.hasText) throw noText(name);
  const notDecoded = damagedBytes([...damaged.values()].reduce((sum, count) => sum + count, 0));
  const more = [pagesOfPictures(ofPictures), skippedNotes(skipped), notDecoded];
  for (const remark of remarksOn(plan, text.leftOut, more)) onRemark?.(remark);
}

/** True for a document with a "#" that may link to a note, not one in a character reference. Most have none. */
async function mayRefer(characters: AsyncIterable<string>): Promise<boolean> {
  for await (const text of characters) if (/(?<!&)#/u.test(text)) return true;
  return false;
}

/** Documents listed by name in a remark. */
const MOST_NAMED = 3;

function pagesOfPictures(paths: readonly string[]): string | undefined {
  if (paths.length === 0) return undefined;
  const names = paths.slice(0, MOST_NAMED).map((path) => path.slice(path.lastIndexOf('/') + 1));
  const others = paths.length - names.length;
  return `only pictures without descriptions: ${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

/** Converts the documents of a book into pieces, one after another. */
class BookText {
  hasText = false;
  /** What the book calls the parts that were left out. */
  readonly leftOut = new Set<string>();
  readonly #source: string;
  readonly #blocks: Blocks;
  #hasTextHere = false;
  #picturesBefore = 0;
  readonly #rules: { notes: Notes | undefined } & Rules;
  /** Chapter starts by document, then by fragment. */
  readonly #chapters = new Map<string, Map<string, ChapterStart>>();
  #ready: Piece[] = [];
  /** The current position. */
  #here: () => PlaceInBook | undefined = () => undefined;
  /** The chapters of the current document that have not begun yet. */
  #open = new Map<string, ChapterStart>();

  constructor(
    { source, options, gutenberg, language }: Book,
    contents: Contents,
    languageMark: PieceOptions['languageMark'],
  ) {
    this.#source = source;
    for (const entry of contents.entries) this.#add(entry);
    this.#rules = {
      notes: undefined,
      languageMark,
      language,
      leavesOut: (element, attributes, meanings) => {
        if (gutenberg?.leavesOut(attributes)) return true;
        const kind = meanings.find((meaning) => LEFT_OUT_PARTS.has(meaning));
        const part = options.readsAll || kind === undefined ? undefined : LEFT_OUT_PARTS.get(kind);
        if (part !== undefined) this.leftOut.add(part);
        return element === 'nav' || part !== undefined;
      },
      chapterAt: (id) => this.#take(id),
      place: () => ({ source, document: this.#here() }),
      piece: (piece) => {
        if (piece.kind === 'text') this.hasText = this.#hasTextHere = true;
        this.#ready.push(piece);
      },
    };
    this.#blocks = new Blocks(options, this.#rules);
  }

  /** True if the last document has pictures but no words. */
  get isOfPictures(): boolean {
    return !this.#hasTextHere && this.#blocks.pictures > this.#picturesBefore;
  }

  /** True if chapters begin inside the document. */
  hasPlaces(path: string): boolean {
    return [...(this.#chapters.get(path)?.keys() ?? [])].some((fragment) => fragment !== '');
  }

  /** @param found the ids in the document; chapters with other fragments begin at its start */
  document(path: string, found: ReadonlySet<string>, notes: Notes): Stage<string, Piece> {
    this.#rules.notes = notes;
    this.#hasTextHere = false;
    this.#picturesBefore = this.#blocks.pictures;
    const chapters = [...(this.#chapters.get(path) ?? [])];
    this.#open = new Map(chapters.filter(([fragment]) => found.has(fragment)));
    const first = chapters.find(([fragment]) => !found.has(fragment));
    const markup = new Markup(this.#blocks, `${path} in ${labelOf(this.#source)}`);
    const take = () => this.#ready.splice(0);
    this.#here = () => ({ path, at: markup.offset });
    if (first) this.#blocks.startChapter(first[1]);
    return {
      push(text) {
        markup.write(text);
        return take();
      },
      end: () => {
        markup.end();
        this.#blocks.end();
        return take();
      },
    };
  }

  /** If several entries lead to one place, the most deeply nested one counts. */
  #add({ path, fragment, title, level }: Entry): void {
    const chapters = this.#chapters.get(path) ?? new Map<string, ChapterStart>();
    this.#chapters.set(path, chapters);
    const before = chapters.get(fragment);
    if (!before || before.level < level) chapters.set(fragment, { title, level });
  }

  #take(id: string): ChapterStart | undefined {
    const chapter = this.#open.get(id);
    this.#open.delete(id);
    return chapter;
  }
}

/** Bytes of a document that is kept in memory. A larger one is unpacked for each reading. */
const LARGEST_KEPT = 4 * 1024 * 1024;
/** UTF-16 units per slice. */
const SLICE = 65_536;

/**
 * Prepares a document of the book to be read several times.
 * @returns a function that returns all its characters
 * @throws TtsError (usage) for a document that is damaged or too large
 */
async function openDocument(
  archive: Archive,
  path: string,
  { name, onDamage }: { readonly name: string; readonly onDamage: (count: number) => void },
  signal: AbortSignal,
): Promise<() => AsyncIterable<string>> {
  const characters = async function* () {
    const decoder = new MarkupDecoder(`${path} in ${name}`);
    yield* through(archive.bytes(path, signal), decoder);
    if (decoder.damaged > 0) onDamage(decoder.damaged);
  };
  if (archive.sizeOf(path) > LARGEST_KEPT) return characters;
  const parts: string[] = [];
  for await (const text of characters()) parts.push(text);
  const whole = parts.join('');
  return () => slicesOf(whole);
}

async function* slicesOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += SLICE) yield text.slice(at, at + SLICE);
}

/** Parts that are left out, by their type in the book. */
const LEFT_OUT_PARTS: ReadonlyMap<string, string> = new Map([
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

/** Returns the documents to leave out as a whole. A document with several chapters is kept. */
function documentsLeftOut(
  landmarks: readonly Landmark[],
  chapters: readonly Entry[],
): ReadonlyMap<string, string> {
  const begun = new Set<string>();
  const several = new Set<string>();
  for (const { path } of chapters) (begun.has(path) ? several : begun).add(path);
  const read = new Set(landmarks.filter(({ type }) => isBodyText(type)).map(({ path }) => path));
  const found = new Map<string, string>();
  for (const { path, fragment, type } of landmarks) {
    const kind = LEFT_OUT_PARTS.get(type);
    if (kind !== undefined && fragment === '' && !read.has(path) && !several.has(path)) found.set(path, kind);
  }
  return found;
}

function isBodyText(type: string): boolean {
  return type === 'text' || type === 'bodymatter' || type === 'start';
}

/** A single heading is the title of the book. */
const FEWEST_HEADINGS = 2;
const HEADING = /<(?:\w+:)?h[1-6][\s>]/giu;
const TITLE = /<(?:\w+:)?title\b[^<>]*>([^<]{1,300})</iu;
const TITLE_SHOWN = /<(?:\w+:)?h[1-6]\b[^<>]*>([\s\S]{1,500}?)<\/(?:\w+:)?h[1-6]\s*>/iu;

/** Returns the chapters of a book without a table of contents: its headings, or else its documents. */
async function contentsWithoutTable(
  documents: readonly string[],
  charactersOf: (path: string) => AsyncIterable<string>,
): Promise<Contents> {
  let headings = 0;
  const titles: (string | undefined)[] = [];
  for (const path of documents) {
    let [title, shown] = [undefined as string | undefined, undefined as string | undefined];
    for await (const text of charactersOf(path)) {
      title ??= titleIn(TITLE.exec(text)?.[1]);
      shown ??= titleIn(TITLE_SHOWN.exec(text)?.[1]);
      headings += text.match(HEADING)?.length ?? 0;
      if (headings >= FEWEST_HEADINGS) return { source: 'headings', entries: [] };
    }
    titles.push(shown ?? title);
  }
  const counts = new Map<string | undefined, number>();
  for (const title of titles) counts.set(title, (counts.get(title) ?? 0) + 1);
  return {
    source: 'documents',
    entries: documents.map((path, at) => ({
      // A title of several documents is the title of the book.
      title: counts.get(titles[at]) === 1 ? titles[at] : undefined,
      level: 1,
      path,
      fragment: '',
    })),
  };
}

function titleIn(markup: string | undefined): string | undefined {
  const root = markup === undefined ? undefined : treeOf(markup, 'a title', false);
  return root && (plainText(root) || undefined);
}

const CHAPTERS: Readonly<Record<Contents['source'], string>> = {
  nav: 'the chapters are those of the table of contents (nav)',
  ncx: 'the chapters are those of the table of contents (NCX)',
  headings: 'no table of contents divides the book: its headings begin the chapters',
  documents: 'no table of contents divides the book, and no headings: each of its documents is a chapter',
};

/**
 * Returns remarks for the user about a book that was read.
 * @param parts what the book calls the parts of documents that were left out
 * @param more remarks on its documents
 */
function* remarksOn(
  { contents, leftOut, missing, hasFixedPages }: Plan,
  parts: ReadonlySet<string>,
  more: readonly (string | undefined)[],
): Generator<string> {
  yield CHAPTERS[contents.source];
  const omitted = [...new Set([...leftOut, ...parts])];
  if (omitted.length > 0) yield `left out: ${omitted.join(', ')}; --all reads what is left out`;
  yield* more.filter((remark) => remark !== undefined);
  const documents = missing === 1 ? 'a document that is' : `${missing} documents that are`;
  if (missing > 0) yield `the reading order names ${documents} not in the book, or not text`;
  if (hasFixedPages)
    yield 'its pages have a fixed layout, so the order of its text may not be that of the page';
}
