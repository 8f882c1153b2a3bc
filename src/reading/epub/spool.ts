import { type TtsError, usageError } from '../../error.ts';
import { writeAt } from '../../files/block-writer.ts';
import { NamelessFile } from '../../files/nameless-file.ts';
import { labelOf } from '../../text/piece.ts';
import type { Source } from '../reading.ts';
import type { Location } from './archive.ts';

/** Bytes of a book that comes through a pipe. */
const LARGEST = 1024 * 1024 * 1024;

/** An archive is read from its end, so a book from a pipe is kept in a temporary file that has no name. */
export async function locationOf(source: Source, signal: AbortSignal): Promise<Location> {
  if (source.path !== undefined) return source.path;
  const file = new NamelessFile('book');
  let length = 0;
  for await (const bytes of source.bytes(signal)) {
    if (length + bytes.length > LARGEST) throw tooLarge(labelOf(source.name));
    file.writing(() => writeAt(file.fd, bytes, length));
    length += bytes.length;
  }
  return file.fd;
}

function tooLarge(name: string): TtsError {
  return usageError(`${name} is larger than ${LARGEST} bytes`, 'name the file with -f');
}
