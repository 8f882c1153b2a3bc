import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TtsError, usageError } from '../../error.ts';
import { unwritable } from '../../files/writable.ts';
import type { Source } from '../reading.ts';
import type { Location } from './archive.ts';

/** Bytes of a book that comes through a pipe. */
const LARGEST = 1024 * 1024 * 1024;

/** An archive is read from its end, so a book from a pipe is kept in a temporary file that has no name. */
export async function locationOf(source: Source, signal: AbortSignal): Promise<Location> {
  if (source.path !== undefined) return source.path;
  const descriptor = namelessFile();
  let length = 0;
  for await (const bytes of source.bytes(signal)) {
    length += bytes.length;
    if (length > LARGEST) throw tooLarge(source.name);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
  }
  return descriptor;
}

function namelessFile(): number {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'tts-book-'));
    const descriptor = openSync(join(folder, 'book'), 'wx+', 0o600);
    rmSync(folder, { recursive: true, force: true });
    return descriptor;
  } catch (error) {
    throw unwritable(tmpdir(), error);
  }
}

function tooLarge(name: string): TtsError {
  return usageError(`${name} is larger than ${LARGEST} bytes`, 'name the file with -f');
}
