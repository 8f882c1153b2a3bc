import { basename, dirname, join } from 'node:path';

/** Names are bounded by 255 bytes on most file systems: what stands behind the kept beginning always has room. */
const KEPT_BYTES = 200;

/** The path of a neighbour of a file, `NAME.ENDING`, in which a name that is too long for that is cut. */
export function besideFile(path: string, ending: string): string {
  return join(dirname(path), `${shortName(path)}.${ending}`);
}

/** The name with which those of a file's neighbours begin. Several files may share a long one. */
export function shortName(path: string): string {
  const name = basename(path);
  const bytes = Buffer.from(name);
  if (bytes.length <= KEPT_BYTES) return name;
  let end = KEPT_BYTES;
  // Bytes that go on with a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
