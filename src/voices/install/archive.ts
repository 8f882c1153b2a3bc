import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import bunzip2 from 'unbzip2-stream';
import { codeOf, TtsError, usageError } from '../../kit/error.ts';
import { unwritable } from '../../kit/folders.ts';
import { printable } from '../../kit/words.ts';
import { ELSEWHERE } from './manifest.ts';

/** Files and bytes of the largest archive that is unpacked. No model has more, but an archive bomb would. */
const MOST_ENTRIES = 2000;
const MOST_BYTES = 2 * 2 ** 30;
/** Bytes of headers and padding, in addition to the files. */
const MOST_OVERHEAD = 16 * 2 ** 20;

/** Decoders by the ending of an archive's name. */
const DECODERS: readonly (readonly [ending: RegExp, decode: (source: Readable) => Readable])[] = [
  [/\.(tar\.gz|tgz)$/i, (source) => source.pipe(createGunzip())],
  [/\.(tar\.bz2|tbz2?)$/i, bunzip],
  [/\.tar$/i, (source) => source],
];

/** Adapts the stream of unbzip2-stream, made for Node 0.8, which `pipeline` would take for one that was closed too early. */
function bunzip(source: Readable): Readable {
  const unpacked = new PassThrough();
  source
    .pipe(bunzip2())
    .on('error', (error: Error) => unpacked.destroy(error))
    .pipe(unpacked);
  return unpacked;
}

/** @param name of a file, whose ending tells its kind */
export function isArchive(name: string): boolean {
  return decoderOf(name) !== undefined;
}

function decoderOf(name: string) {
  return DECODERS.find(([ending]) => ending.test(name))?.[1];
}

export function withoutEnding(name: string): string {
  return DECODERS.reduce((rest, [ending]) => rest.replace(ending, ''), name);
}

/**
 * Unpacks an untrusted archive into an empty folder.
 * @param name of the archive, whose ending tells how it is packed
 * @throws TtsError (usage) for names that lead out of the folder, links, devices, and too many files or bytes
 */
export async function unpack(
  archive: string,
  folder: string,
  signal: AbortSignal,
  name = archive,
): Promise<void> {
  const source = createReadStream(archive);
  const decoded = decoderOf(name)?.(source) ?? source;
  source.on('error', (error) => decoded.destroy(error));
  const entries = extract();
  let [count, bytes] = [0, 0];
  /** Limits the decoded bytes. The headers give the sizes of the files, but other data could unpack without end. */
  const bounded = async function* (pieces: AsyncIterable<Uint8Array>) {
    let read = 0;
    for await (const piece of pieces) {
      read += piece.length;
      if (read > bytes + MOST_OVERHEAD) throw refused('it holds more than its files');
      yield piece;
    }
  };
  // All errors reach the loop over the entries. At its end, `pipeline` may take a closed tar stream for one that failed.
  pipeline(decoded, bounded, entries, { signal }).catch(() => {});
  try {
    for await (const entry of entries) {
      const { header } = entry;
      count += 1;
      bytes += header.size ?? 0;
      if (count > MOST_ENTRIES || bytes > MOST_BYTES)
        throw refused(`it holds more than ${count > MOST_ENTRIES ? `${MOST_ENTRIES} files` : '2 GiB'}`);
      const path = pathOf(header);
      if (path === undefined) entry.resume();
      else await write(entry, join(folder, path), signal);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw reworded(error);
  } finally {
    source.destroy();
    decoded.destroy();
  }
  if (count === 0) throw refused('it is empty');
}

/**
 * @returns the path of a file; `undefined` for a folder
 * @throws TtsError (usage)
 */
function pathOf({ name, type }: Header): string | undefined {
  const path = posix.normalize(name.replaceAll('\\', '/'));
  const isOutside = path.startsWith('/') || /^[a-z]:/i.test(path) || path.split('/').includes('..');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for.
  if (isOutside || /[\x00-\x1f\x7f]/.test(path))
    throw refused(`a name in it leads elsewhere: ${printable(name)}`);
  if (type === 'directory') return undefined;
  if (type === 'file' || type === 'contiguous-file') return path;
  throw refused(
    `${printable(name)} is a ${type === 'symlink' || type === 'link' ? 'link' : 'device or a pipe'}`,
  );
}

async function write(entry: AsyncIterable<unknown>, path: string, signal: AbortSignal): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    await pipeline(entry, createWriteStream(path, { mode: 0o600, flags: 'wx' }), { signal });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw refused('a name occurs twice in it');
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : unwritable(path, error, ELSEWHERE);
  }
}

function refused(why: string) {
  return usageError(
    `the archive is refused: ${why}`,
    'unpack it yourself, look at it, and install the folder',
  );
}

function reworded(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TtsError) return error;
  return usageError(
    `the archive cannot be read: ${printable(error.message)}`,
    'download it again; .tar.gz, .tar.bz2 and .tar are read',
    error,
  );
}
