import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import bunzip2 from 'unbzip2-stream';
import { codeOf, usageError } from '../error.ts';
import { unwritable } from '../files/writable.ts';
import { ELSEWHERE } from '../installed/manifest.ts';
import { printable } from '../printable.ts';

/** No model has more. A bomb would. */
const MOST_ENTRIES = 2000;
const MOST_BYTES = 2 * 2 ** 30;
/** Headers, and the zeros around and behind the files. */
const MOST_BESIDE = 16 * 2 ** 20;

const ENDINGS: readonly (readonly [ending: RegExp, decoder: (() => NodeJS.ReadWriteStream) | undefined])[] = [
  [/\.(tar\.gz|tgz)$/i, createGunzip],
  [/\.(tar\.bz2|tbz2?)$/i, bunzip2],
  [/\.tar$/i, undefined],
];

export function isArchive(name: string): boolean {
  return ENDINGS.some(([ending]) => ending.test(name));
}

/**
 * Unpacks an archive of a stranger into an empty folder.
 * @throws TtsError (usage) for names that lead out of the folder, links, devices, and what is too large
 */
export async function unpack(archive: string, folder: string, signal: AbortSignal): Promise<void> {
  const decoder = ENDINGS.find(([ending]) => ending.test(archive))?.[1]?.() as Transform | undefined;
  const source = createReadStream(archive);
  const entries = extract();
  let [count, bytes] = [0, 0];
  /** Files have the sizes of their headers. What a few bytes are unpacked to besides could be endless. */
  const bounded = async function* (pieces: AsyncIterable<Uint8Array>) {
    let read = 0;
    for await (const piece of pieces) {
      read += piece.length;
      if (read > bytes + MOST_BESIDE) throw refused('it holds more than its files');
      yield piece;
    }
  };
  const reading = decoder
    ? pipeline(source, decoder, bounded, entries, { signal })
    : pipeline(source, bounded, entries, { signal });
  reading.catch(() => {});
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
    await reading;
  } catch (error) {
    source.destroy();
    signal.throwIfAborted();
    throw reworded(error);
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
    throw codeOf(error) === '' ? error : unwritable(path, error, ELSEWHERE);
  }
}

function refused(why: string) {
  return usageError(
    `the archive is refused: ${why}`,
    'unpack it yourself, look at it, and install the folder',
  );
}

function reworded(error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'TtsError') return error;
  return usageError(
    `the archive cannot be read: ${printable(error.message)}`,
    'download it again; .tar.gz, .tar.bz2 and .tar are read',
    error,
  );
}
