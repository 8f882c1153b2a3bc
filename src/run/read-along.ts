/** Read-along books: EPUB 3 with media overlays, whose sentences are highlighted while they are heard. */
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { FileWriter, NamelessFile } from '../kit/descriptor.ts';
import { usageError } from '../kit/error.ts';
import { singleItem } from '../kit/wait.ts';
import { decodeMarkup } from '../read/html-charset.ts';
import type { BookFile } from '../read/reading.ts';
import { type Spanned, withSpans } from '../read/spans.ts';
import { Archive } from '../read/zip.ts';
import type { Encoding, OpenFile, WrittenSize } from '../sound/encode/encoding.ts';
import { mp3 } from '../sound/encode/mp3.ts';
import { frameBytes, type Track, untagged } from '../sound/pcm.ts';
import type { Segment } from '../text/segment.ts';
import type { Epub3Upgrade } from './epub-three.ts';
import { type NarratedPackage, narratedPackage } from './narrated-package.ts';
import { ACTIVE, type Clip, highlightCss, type Narration, newBook, overlay, styleIn } from './overlays.ts';
import type { Listener, RunEvent } from './run.ts';

export interface ReadAlongOptions {
  /** kbit/s. */
  readonly bitrate: number | undefined;
  /** The language of the voice. */
  readonly language: string | undefined;
  readonly narrator: string | undefined;
  /** The title of a new book whose text has none; may be empty. */
  readonly name: string;
}

/** @throws TtsError (usage) for a book that cannot hold sound */
export async function openReadAlong(
  file: BookFile | undefined,
  options: ReadAlongOptions,
  signal: AbortSignal,
): Promise<ReadAlong> {
  if (!file) return new ReadAlong(undefined, options);
  using book = await openedBook(file, signal);
  // Reports a file that cannot be copied before anything is spoken.
  book.archive.assertAllCopied();
  return new ReadAlong(file, options, freeFolder(book.archive.paths));
}

async function openedBook(
  { name, location }: BookFile,
  signal: AbortSignal,
): Promise<{ readonly archive: Archive; readonly own: NarratedPackage } & Disposable> {
  const archive = await Archive.open(name, location, signal);
  const close = () => archive[Symbol.dispose]();
  try {
    return { archive, own: await narratedPackage(archive, name, signal), [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
  }
}

/** The segments spoken from one document of the book, or from one chapter of another text. */
interface Section {
  /** `undefined` for a book that is made of another text. */
  readonly path: string | undefined;
  readonly chapter: Segment['chapter'];
  /** PCM frames before it. */
  readonly start: number;
  readonly spoken: { readonly segment: Segment; readonly start: number }[];
}

/** Writes the book, for which it records where each sentence begins. */
export class ReadAlong implements Listener {
  readonly encoding: Encoding;
  readonly #book: BookFile | undefined;
  readonly #options: ReadAlongOptions;
  readonly #folder: string;
  readonly #sections: Section[] = [];
  readonly #paths = new Set<string>();

  /** @param folder gets the added files; in a new book next to the package file, so that links between them are short */
  constructor(book: BookFile | undefined, options: ReadAlongOptions, folder = `EPUB/${NARRATION}`) {
    this.#book = book;
    this.#folder = folder;
    this.#options = options;
    const sound = mp3({ bitrate: options.bitrate });
    this.encoding = {
      name: 'epub',
      assertReady: (sampleRate) => sound.assertReady(sampleRate),
      record: (file, track, signal) => this.#record(file, track, signal),
    };
  }

  on(event: RunEvent): void {
    if (event.type !== 'started' || !event.part.speech) return;
    const { segment } = event.part;
    const start = event.at;
    const path = segment.place.document?.path;
    const last = this.#sections.at(-1);
    // A document has one overlay. Text that returns to an earlier document is added to the current section.
    const isSame = this.#book
      ? path === undefined || this.#paths.has(path)
      : last?.chapter === segment.chapter;
    if (path !== undefined) this.#paths.add(path);
    if (last && isSame) last.spoken.push({ segment, start });
    else
      this.#sections.push({
        path,
        chapter: segment.chapter,
        start: last ? start : 0,
        spoken: [{ segment, start }],
      });
  }

  async #record(file: OpenFile, track: Track, signal: AbortSignal): Promise<WrittenSize> {
    const book = new BookWriter(file);
    try {
      await book.add('mimetype', Buffer.from('application/epub+zip'), false);
      const sound = new SectionedTrack(track, this.#sections);
      const lengths: number[] = [];
      for (let number = 0; await sound.hasMore(); number += 1)
        lengths.push(await this.#addSound(book, number, { ...track, pcm: sound.section(number) }, signal));
      await this.#addText(book, lengths, track, signal);
      return { bytes: sound.bytes, writtenBytes: await book.end() };
    } finally {
      book.close();
    }
  }

  /** @returns PCM frames */
  async #addSound(
    book: BookWriter,
    number: number,
    { format, pcm }: Track,
    signal: AbortSignal,
  ): Promise<number> {
    using file = new NamelessFile('chapter');
    const sound = untagged({ format, bytes: undefined, pcm });
    const out = { fd: file.fd, path: '', name: 'the sound of a chapter', start: 0 };
    const { bytes } = await mp3({ bitrate: this.#options.bitrate }).record(out, sound, signal);
    await book.stream(`${this.#folder}/${nameOf(number)}.mp3`, file.read(1));
    return bytes / frameBytes(format);
  }

  async #addText(
    book: BookWriter,
    lengths: readonly number[],
    { format: { sampleRate }, tags }: Track,
    signal: AbortSignal,
  ): Promise<void> {
    const sections = this.#sections.slice(0, lengths.length);
    const folder = this.#folder;
    const narrator = tags.narrator ?? this.#options.narrator;
    using opened = this.#book && (await openedBook(this.#book, signal));
    const { archive, own } = opened ?? {};
    const made = archive ? undefined : newBook(sections, { ...tags, ...this.#about(tags) });
    const narrated = sections.map(({ path = '' }, number) => ({
      path: made?.documents[number]?.path ?? path,
      smil: `${folder}/${nameOf(number)}.smil`,
      sound: `${folder}/${nameOf(number)}.mp3`,
      seconds: (lengths[number] ?? 0) / sampleRate,
    }));
    const { prefix = 'tts-', active = ACTIVE, style = `${folder}/active.css` } = own ?? {};
    const narration = { narrated, folder, addsStyle: style !== own?.style, narrator, prefix };
    /** Adds one document at a time, since only that one is in memory. */
    const add = async (number: number): Promise<void> => {
      const [section, files] = [sections[number], narrated[number]];
      if (!section || !files) return;
      const { text, targets } =
        made?.documents[number] ?? (await spanned(archive, section, { style, own, signal }));
      const clips = clipsOf(targets, section, lengths[number] ?? 0).map((clip) => ({
        ...clip,
        from: clip.from / sampleRate,
        to: clip.to / sampleRate,
      }));
      await book.add(files.smil, Buffer.from(overlay({ document: files.path, ...files, clips })));
      await book.add(files.path, text);
    };
    if (narration.addsStyle) await book.add(style, Buffer.from(highlightCss(active)));
    if (archive && own) return await copy(archive, book, { own, add, narration, signal });
    for (const number of sections.keys()) await add(number);
    for (const [path, bytes] of made?.files(narration) ?? []) await book.add(path, bytes);
  }

  #about({ title, language }: Track['tags']): { title: string; language: string } {
    const { name, language: ofVoice = 'en' } = this.#options;
    return { title: title ?? (name || 'Untitled'), language: language ?? ofVoice };
  }
}

interface Changes {
  readonly own: NarratedPackage;
  readonly narration: Narration;
  /** Adds a narrated document with its overlay. */
  add(number: number): Promise<void>;
  readonly signal: AbortSignal;
}

/** Copies the other files of the book byte for byte, except those of an EPUB 2 that EPUB 3 writes differently. */
async function copy(
  archive: Archive,
  book: BookWriter,
  { own, narration, add, signal }: Changes,
): Promise<void> {
  const { upgrade } = own;
  const numbers = new Map(narration.narrated.map(({ path }, number) => [path, number]));
  const leftOut = new Set([...own.replacedBy(narration), own.path, 'mimetype']);
  for (const path of archive.paths) {
    if (leftOut.has(path)) continue;
    const number = numbers.get(path);
    const bytes =
      number === undefined ? upgrade && (await upgraded(archive, path, upgrade, signal)) : undefined;
    if (number !== undefined) await add(number);
    else if (bytes) await book.add(path, bytes);
    else await book.stream(path, archive.copied(path, signal));
  }
  const nav = `${narration.folder}/nav.xhtml`;
  if (upgrade) await book.add(nav, Buffer.from(upgrade.nav(nav)));
  await book.add(own.path, Buffer.from(own.edit(narration, nav)));
}

/** @returns `undefined` for a file that is the same in EPUB 2 and 3 */
async function upgraded(
  archive: Archive,
  path: string,
  upgrade: Epub3Upgrade,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const isPage = upgrade.isPage(path);
  if (!isPage && !upgrade.isNcx(path)) return undefined;
  const bytes = (await archive.whole(path, Number.POSITIVE_INFINITY, signal)) ?? Buffer.alloc(0);
  const text = decodeMarkup(bytes);
  return encoded(isPage ? upgrade.page(path, text) : upgrade.ncx(text), text, bytes);
}

/** The folder for the files that are added to a book. */
const NARRATION = 'tts-read-along';

/** @returns a name that no folder of the book has */
function freeFolder(paths: readonly string[]): string {
  const taken = new Set(paths.map((path) => path.split('/', 1)[0]?.toLowerCase()));
  let name = NARRATION;
  for (let number = 2; taken.has(name); number += 1) name = `${NARRATION}-${number}`;
  return name;
}

function nameOf(number: number): string {
  return String(number + 1).padStart(4, '0');
}

async function spanned(
  archive: Archive | undefined,
  { path = '', spoken }: Section,
  {
    style,
    own,
    signal,
  }: {
    readonly style: string;
    readonly own: NarratedPackage | undefined;
    readonly signal: AbortSignal;
  },
): Promise<{ text: Buffer; targets: Spanned['targets'] }> {
  const bytes = await archive?.whole(path, Number.POSITIVE_INFINITY, signal);
  if (!bytes)
    throw usageError(`${path} is not in the book any more`, 'do not change the book while it is read');
  const sentences = spoken.map(({ segment }) => ({
    written: segment.written,
    at: segment.place.document?.at ?? 0,
  }));
  const document = decodeMarkup(bytes);
  const head = styleIn(path, document, { style, active: own?.active ?? ACTIVE });
  const { text, targets } = withSpans(document, sentences, head);
  const written = own?.upgrade?.page(path, text) ?? text;
  return { text: encoded(written, document, bytes), targets };
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Keeps UTF-8 and its byte order mark; a document in another encoding, which EPUB 3 does not allow, becomes UTF-8. */
function encoded(text: string, before: string, bytes: Buffer): Buffer {
  const mark = bytes.subarray(0, 3).equals(BOM) ? BOM : Buffer.alloc(0);
  const isUtf8 = Buffer.concat([mark, Buffer.from(before)]).equals(bytes);
  if (isUtf8) return Buffer.concat([mark, Buffer.from(text)]);
  return Buffer.from(text.replace(/^(<\?xml[^>]*?encoding\s*=\s*["'])[\w.:-]+/iu, '$1utf-8'));
}

/**
 * Divides all sound of a section into clips. A sentence's clip includes the silence after it, and the sound of text that has
 * no place in the document.
 */
export function clipsOf(
  targets: readonly (readonly { id: string; length: number; type: string | undefined }[])[],
  { start, spoken }: Pick<Section, 'start'> & { readonly spoken: readonly { readonly start: number }[] },
  length: number,
): Clip[] {
  const found = targets.flatMap((parts, at) =>
    parts.length > 0 ? [{ parts, at: spoken[at]?.start ?? start }] : [],
  );
  if (found.length === 0) return [{ id: undefined, type: undefined, from: 0, to: length }];
  return found.flatMap(({ parts, at }, number) => {
    const from = number === 0 ? 0 : at - start;
    const to = (found[number + 1]?.at ?? start + length) - start;
    const all = parts.reduce((sum, part) => sum + part.length, 0);
    let before = 0;
    return parts.map(({ id, type, length: own }) => {
      const begin = from + Math.round(((to - from) * before) / all);
      before += own;
      return { id, type, from: begin, to: from + Math.round(((to - from) * before) / all) };
    });
  });
}

/** Splits a track into sections. The start of a section is known before its sound comes. */
class SectionedTrack {
  bytes = 0;
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #sections: readonly Section[];
  readonly #size: number;
  #ahead: Uint8Array | undefined;

  constructor({ pcm, format }: Track, sections: readonly Section[]) {
    this.#source = pcm[Symbol.asyncIterator]();
    this.#sections = sections;
    this.#size = frameBytes(format);
  }

  async hasMore(): Promise<boolean> {
    while (!this.#ahead?.length) {
      const next = await this.#source.next();
      if (next.done) return false;
      this.#ahead = next.value;
    }
    return true;
  }

  async *section(number: number): AsyncGenerator<Uint8Array> {
    while (await this.hasMore()) {
      const piece = this.#ahead ?? new Uint8Array();
      const next = this.#sections[number + 1];
      const room = next ? next.start * this.#size - this.bytes : piece.length;
      if (room <= 0) return;
      const own = piece.subarray(0, room);
      this.#ahead = piece.subarray(own.length);
      this.bytes += own.length;
      yield own;
    }
  }
}

/** The same metadata for each file, so that the same input makes the same bytes. */
const METADATA = { mtime: new Date(1980, 0, 1), mode: 0o100_644, forceDosTimestamp: true };
/** Bytes of files that may wait until the archive is written. */
const MOST_BUFFERED = 16 * 1024 * 1024;
const COMPRESSED = /\.(?:mp3|m4a|mp4|jpe?g|png|gif|webp|woff2?)$/iu;

/** Writes files into an archive, one after the other. */
class BookWriter {
  readonly #zip = new ZipFile();
  readonly #written: Promise<number>;
  readonly #over = new AbortController();
  /** Bytes added since the last wait for the archive. */
  #buffered = 0;

  constructor({ fd, name }: OpenFile) {
    this.#zip.on('error', () => {});
    this.#written = this.#write(new FileWriter(fd, name));
    this.#written.catch(() => {});
  }

  async #write(file: FileWriter): Promise<number> {
    let bytes = 0;
    for await (const piece of this.#zip.outputStream) {
      if (this.#over.signal.aborted) break;
      file.write(piece as Buffer);
      bytes += piece.length;
    }
    file.flush();
    return bytes;
  }

  async add(path: string, bytes: Buffer, mayCompress = true): Promise<void> {
    this.#buffered += bytes.length;
    if (this.#buffered > MOST_BUFFERED) await this.stream(path, singleItem(bytes));
    else this.#zip.addBuffer(bytes, path, { ...METADATA, compress: mayCompress && !COMPRESSED.test(path) });
  }

  async stream(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const stream = Readable.from(bytes, { objectMode: false });
    this.#zip.addReadStream(stream, path, { ...METADATA, compress: !COMPRESSED.test(path) });
    await Promise.race([finished(stream), this.#written]);
    this.#buffered = 0;
  }

  /** @returns the bytes of the archive */
  async end(): Promise<number> {
    this.#zip.end();
    return this.#written;
  }

  close(): void {
    this.#over.abort();
    (this.#zip.outputStream as Readable).destroy();
  }
}
