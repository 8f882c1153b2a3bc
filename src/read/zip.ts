import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { type Entry, fromFdPromise, getFileNameLowLevel, openPromise, type ZipFile } from 'yauzl';
import { NamelessFile } from '../kit/descriptor.ts';
import { type TtsError, usageError } from '../kit/error.ts';
import { labelOf } from '../text/piece.ts';
import { assertNoDocument, isZip, LOOKED_AT } from './first-bytes.ts';
import { decodeMarkup } from './html-charset.ts';
import type { Source } from './reading.ts';

/** A path, or the descriptor of an open file that stays open. */
export type Location = string | number;

const MOST_ENTRIES = 50_000;
/** Bytes after unpacking. */
const LARGEST = 64 * 1024 * 1024;
/** Bytes of all documents after unpacking. The largest book seen has 35 MB. */
const LARGEST_BOOK = 512 * 1024 * 1024;
/** Text shrinks to a third or a tenth, so an archive above ALWAYS_ALLOWED with a higher ratio is a zip bomb. */
const HIGHEST_RATIO = 200;
const ALWAYS_ALLOWED = 4 * 1024 * 1024;
/** Bytes of an entry before its name and its data. */
const LOCAL_HEADER = 30;
const STORED_LINK = 0o120_000;
/** Compression methods. */
const STORED = 0;
const DEFLATED = 8;

/** The files of a book. Nothing is unpacked to the disk. */
export class Archive implements Disposable {
  readonly #name: string;
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #close: () => void;

  private constructor(name: string, zip: ZipFile, entries: ReadonlyMap<string, Entry>, close: () => void) {
    this.#name = name;
    this.#zip = zip;
    this.#entries = entries;
    this.#close = close;
  }

  /** @throws TtsError (usage) for what is not an intact ZIP archive */
  static async open(name: string, location: Location, signal: AbortSignal): Promise<Archive> {
    const options = { lazyEntries: true, autoClose: false, decodeStrings: false };
    const opened =
      typeof location === 'string' ? openPromise(location, options) : fromFdPromise(location, options);
    const zip = await opened.catch((error) => {
      const start = firstBytes(location);
      // The name's ending is ignored, since it may be wrong.
      if (!isZip(start)) assertNoDocument(start, name, '');
      throw damaged(name, error);
    });
    // Closing the archive would close the caller's descriptor.
    const close = () => (typeof location === 'string' ? zip.close() : undefined);
    try {
      return new Archive(name, zip, await entriesOf(name, zip, signal), close);
    } catch (error) {
      close();
      throw error;
    }
  }

  get paths(): readonly string[] {
    return [...this.#entries.keys()];
  }

  has(path: string): boolean {
    return this.#entries.has(path);
  }

  /** Returns the bytes after unpacking, as stated in the archive. */
  sizeOf(path: string): number {
    return this.#entries.get(path)?.uncompressedSize ?? 0;
  }

  /** @throws TtsError (usage) for files that are too large, each or in total */
  assertAllReadable(paths: readonly string[]): void {
    let [bytes, packed] = [0, 0];
    for (const path of paths) {
      const entry = this.#entries.get(path);
      if (!entry) continue;
      this.#assertReadable(path, entry);
      bytes += entry.uncompressedSize;
      packed += entry.compressedSize;
    }
    if (bytes > LARGEST_BOOK || isZipBomb(bytes, packed)) throw tooLarge(this.#name, bytes);
  }

  #assertReadable(path: string, { uncompressedSize, compressedSize }: Entry): void {
    if (uncompressedSize > LARGEST || isZipBomb(uncompressedSize, compressedSize))
      throw tooLarge(`${path} in ${this.#name}`, uncompressedSize);
  }

  /** @throws TtsError (usage) if the book has a file that `copied` would refuse */
  assertAllCopied(): void {
    for (const [path, entry] of this.#entries) this.#assertUnpacked(path, entry);
  }

  #assertUnpacked(path: string, entry: Entry): void {
    const name = `${path} in ${this.#name}`;
    if (isZipBomb(entry.uncompressedSize, entry.compressedSize)) throw tooLarge(name, entry.uncompressedSize);
    if (entry.isEncrypted())
      throw usageError(
        `${name} is locked with a password`,
        'unlock it first: `tts` cannot read locked books',
      );
    if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
      throw damaged(name, new Error(`compression ${entry.compressionMethod} is not known`));
  }

  /**
   * Yields the bytes of a file; none if it does not exist.
   * @throws TtsError (usage) for a file that is damaged or too large
   */
  async *bytes(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const entry = this.#entries.get(path);
    if (!entry) return;
    this.#assertReadable(path, entry);
    yield* this.copied(path, signal);
  }

  /**
   * Yields the bytes of a file of any size, such as a film.
   * @throws TtsError (usage) for a damaged file
   */
  async *copied(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const entry = this.#entries.get(path);
    if (!entry) return;
    this.#assertUnpacked(path, entry);
    try {
      const stream = await this.#zip.openReadStreamPromise(entry);
      for await (const piece of stream) {
        signal.throwIfAborted();
        yield piece;
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw damaged(`${path} in ${this.#name}`, error);
    }
  }

  /** @param most bytes; a larger file is not read */
  async whole(path: string, most: number, signal: AbortSignal): Promise<Buffer | undefined> {
    if (!this.has(path) || this.sizeOf(path) > most) return undefined;
    const pieces: Uint8Array[] = [];
    for await (const piece of this.bytes(path, signal)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** Returns the characters of a document, with the limits of {@link Archive.whole}. */
  async text(path: string, most: number, signal: AbortSignal): Promise<string | undefined> {
    const bytes = await this.whole(path, most, signal);
    return bytes && decodeMarkup(bytes);
  }

  [Symbol.dispose](): void {
    this.#close();
  }
}

function firstBytes(location: Location): Uint8Array {
  const bytes = new Uint8Array(LOOKED_AT);
  const fd = typeof location === 'string' ? openSync(location, 'r') : location;
  try {
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    if (fd !== location) closeSync(fd);
  }
}

function isZipBomb(bytes: number, packed: number): boolean {
  return bytes > ALWAYS_ALLOWED && bytes > packed * HIGHEST_RATIO;
}

/** Lists the entries by path; of equal paths, the last one counts. */
async function entriesOf(
  name: string,
  zip: ZipFile,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > MOST_ENTRIES)
    throw usageError(`${name} holds more than ${MOST_ENTRIES} files`, FROM_WHERE);
  const all: Entry[] = [];
  try {
    for await (const entry of zip.eachEntry()) {
      signal.throwIfAborted();
      all.push(entry);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw damaged(name, error);
  }
  assertApart(name, all);
  const usable = all.map((entry) => [pathOf(entry), entry] as const).filter(([path]) => path !== undefined);
  return new Map(usable as readonly (readonly [string, Entry])[]);
}

/** Refuses overlapping entries, which unpack to far more than the archive holds. */
function assertApart(name: string, entries: readonly Entry[]): void {
  let end = 0;
  const inOrder = entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
  for (const { relativeOffsetOfLocalHeader: start, compressedSize, fileNameLength } of inOrder) {
    if (start < end) throw damaged(name, new Error('entries overlap'));
    end = start + LOCAL_HEADER + fileNameLength + compressedSize;
  }
}

/** @returns `undefined` for folders, links, and paths that leave the archive */
function pathOf(entry: Entry): string | undefined {
  const path = nameOf(entry);
  const isLink = ((entry.externalFileAttributes >>> 16) & 0o170_000) === STORED_LINK;
  const isOutside = /^\/|^[a-z]:|\0/i.test(path) || path.split('/').includes('..');
  return isLink || isOutside || path === '' || path.endsWith('/') ? undefined : path;
}

/** Decodes a name as UTF-8 where it is valid, even if the archive does not declare it. */
function nameOf({ fileNameRaw, generalPurposeBitFlag, extraFields }: Entry): string {
  const name = isUtf8(fileNameRaw)
    ? fileNameRaw.toString()
    : getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false);
  return name.replaceAll('\\', '/');
}

function damaged(name: string, cause: unknown): TtsError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return usageError(`cannot read ${name}: the book is damaged (${reason})`, 'get the file again', cause);
}

const FROM_WHERE = 'check where the book comes from';

function tooLarge(name: string, bytes: number): TtsError {
  return usageError(`${name} unpacks to ${bytes} bytes, which is too much for a text`, FROM_WHERE);
}

/** Bytes of a book from a pipe. */
const LARGEST_ARCHIVE = 1024 * 1024 * 1024;

/** Returns the path of an archive. One from a pipe is first copied to an unnamed file, since it is read from its end. */
export async function locationOf(source: Source, signal: AbortSignal): Promise<Location> {
  if (source.path !== undefined) return source.path;
  const file = new NamelessFile('book');
  let length = 0;
  for await (const bytes of source.bytes(signal)) {
    length += bytes.length;
    if (length > LARGEST_ARCHIVE)
      throw usageError(
        `${labelOf(source.name)} is larger than ${LARGEST_ARCHIVE} bytes`,
        'name the file with -f',
      );
    file.write(bytes);
  }
  file.flush();
  return file.fd;
}
