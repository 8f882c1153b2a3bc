import type { ByteReader } from './byte-reader.ts';
import { isFourCC } from './fourcc.ts';

/** How a chunk begins that no sound looks like by chance: with its name, four bytes of size, and its kind. */
export interface Mark {
  readonly name: Buffer;
  readonly kinds: readonly Buffer[];
  /** How many bytes it takes to be sure. */
  readonly bytes: number;
}

/** A WAV of its own, up to the name of its first chunk. */
export const WAV = mark('RIFF', ['WAVE'], 16);

/** What some writers put behind the samples. Other chunks have no kind: only a known size tells them from samples. */
export const LIST = mark('LIST', ['INFO', 'adtl'], 12);

function mark(name: string, kinds: readonly string[], bytes: number): Mark {
  return {
    name: Buffer.from(name, 'latin1'),
    kinds: kinds.map((kind) => Buffer.from(kind, 'latin1')),
    bytes,
  };
}

/** How many bytes of samples come before the next thing that is none, or may be none when more has come. */
export function bytesBeforeMark(piece: Uint8Array, marks: readonly Mark[]): number {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  return Math.min(...marks.map((mark) => bytesBefore(bytes, mark)));
}

function bytesBefore(bytes: Buffer, mark: Mark): number {
  for (let at = bytes.indexOf(mark.name); at !== -1; at = bytes.indexOf(mark.name, at + 1)) {
    if (mayBegin(bytes, at, mark)) return at;
  }
  for (let at = Math.max(0, bytes.length - mark.name.length + 1); at < bytes.length; at++) {
    if (mayBegin(bytes, at, mark)) return at;
  }
  return bytes.length;
}

/** Whether what comes next, within the limit, is no sample for sure. Waits for no more bytes than it takes to tell. */
export async function isMarkNext(
  reader: ByteReader,
  marks: readonly Mark[],
  limit: number,
): Promise<boolean> {
  for (let count = 1; count <= limit; count++) {
    const bytes = await reader.peek(count);
    const mark = marks.find((mark) => mayBegin(bytes, 0, mark));
    if (mark === undefined || bytes.length < count) return false;
    if (count === mark.bytes) return true;
  }
  return false;
}

function mayBegin(bytes: Uint8Array, at: number, mark: Mark): boolean {
  if (!agrees(bytes, at, mark.name) || !mark.kinds.some((kind) => agrees(bytes, at + 8, kind))) return false;
  return mark !== WAV || bytes.length < at + WAV.bytes || isFourCC(bytes, at + 12);
}

/** Whether the name stands there, as far as there are bytes. */
function agrees(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  // Not `every`, which costs as much as the search where pieces are small.
  for (let i = 0; i < name.length && at + i < bytes.length; i++) if (bytes[at + i] !== name[i]) return false;
  return true;
}
