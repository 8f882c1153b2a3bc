import { type FileHandle, open } from 'node:fs/promises';
import { readAt } from '../../kit/descriptor.ts';
import { shiftRight } from './wav.ts';

/** Boxes on the way to a track's tables (ISO/IEC 14496-12, section 6.2.3). */
const HOLDERS = new Set(['trak', 'mdia', 'minf', 'stbl']);

/** Bytes of a box's head, and of a table's version, flags and number of entries. */
const [HEAD, TABLE_HEAD] = [8, 8] as const;

const MOST_OFFSET = 0xff_ff_ff_ff;

/**
 * Gives each title in the text track of an MP4 its own chunk. ffmpeg writes all titles into one chunk, and some readers
 * take a chunk for a title. Skips files whose index does not precede their sound, or that are too long for their offsets.
 */
export async function divideTitles(path: string, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const index = await indexOf(file);
    if (!index) return;
    const divided = withTitles(index.content);
    const more = divided.length - index.content.length;
    const moved = more === 0 ? undefined : withOffsets(divided, more);
    if (!moved) return;
    await shiftRight(file, index.end, more, signal);
    await file.write(Buffer.concat([head('moov', moved.length), moved]), 0, undefined, index.start);
  } finally {
    await file.close();
  }
}

interface Index {
  /** Bytes from the start of the file. */
  readonly start: number;
  readonly end: number;
  readonly content: Buffer;
}

async function indexOf(file: FileHandle): Promise<Index | undefined> {
  for (let start = 0; ; ) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, start);
    const size = buffer.readUInt32BE(0);
    const kind = kindAt(buffer, 0);
    // The box of the sound may store its size elsewhere.
    if (bytesRead < HEAD || size < HEAD || kind === 'mdat') return undefined;
    if (kind === 'moov') {
      const content = Buffer.alloc(size - HEAD);
      await readAt(file, content, start + HEAD);
      return { start, end: start + size, content };
    }
    start += size;
  }
}

function kindAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at + 4, at + HEAD);
}

function head(kind: string, length: number): Buffer {
  const bytes = Buffer.alloc(HEAD);
  bytes.writeUInt32BE(HEAD + length, 0);
  bytes.write(kind, 4, 'latin1');
  return bytes;
}

/** @param change gets the content of each box without inner boxes */
function withBoxes(content: Buffer, change: (kind: string, content: Buffer) => Buffer): Buffer {
  const boxes: Buffer[] = [];
  for (const [kind, inside] of boxesIn(content)) {
    const changed = HOLDERS.has(kind) ? withBoxes(inside, change) : change(kind, inside);
    boxes.push(head(kind, changed.length), changed);
  }
  return Buffer.concat(boxes);
}

function* boxesIn(content: Buffer): Generator<[kind: string, inside: Buffer]> {
  for (let at = 0; at + HEAD <= content.length; ) {
    const end = at + Math.max(HEAD, content.readUInt32BE(at));
    yield [kindAt(content, at), content.subarray(at + HEAD, end)];
    at = end;
  }
}

function withTitles(index: Buffer): Buffer {
  const boxes = [...boxesIn(index)].map(([kind, inside]) => {
    const changed = kind === 'trak' ? withChunks(inside) : inside;
    return Buffer.concat([head(kind, changed.length), changed]);
  });
  return Buffer.concat(boxes);
}

/** Gives a text track one chunk per sample. */
function withChunks(track: Buffer): Buffer {
  const tables = new Map<string, Buffer>();
  withBoxes(track, (kind, content) => {
    // The first handler is the track's; the box of data references has another one.
    if (!tables.has(kind)) tables.set(kind, content);
    return content;
  });
  const [sizes, runs, chunks] = ['stsz', 'stsc', 'stco'].map((kind) => tables.get(kind));
  const isText = tables.get('hdlr')?.toString('latin1', 8, 12) === 'text';
  if (!isText || !sizes || !runs || !chunks) return track;
  const places = samplePlaces(sizes, runs, chunks);
  const offsets = Buffer.alloc(TABLE_HEAD + 4 * places.length);
  offsets.writeUInt32BE(places.length, 4);
  for (const [at, place] of places.entries()) offsets.writeUInt32BE(place, TABLE_HEAD + 4 * at);
  // All chunks have one sample of the first kind.
  const single = Buffer.alloc(TABLE_HEAD + 12);
  for (const at of [4, 8, 12, 16]) single.writeUInt32BE(1, at);
  const changed: Readonly<Record<string, Buffer>> = { stsc: single, stco: offsets };
  return withBoxes(track, (kind, content) => changed[kind] ?? content);
}

/** @returns the offsets in the file of a track's samples */
function samplePlaces(sizes: Buffer, runs: Buffer, chunks: Buffer): number[] {
  const usual = sizes.readUInt32BE(4);
  const count = sizes.readUInt32BE(8);
  const places: number[] = [];
  let run = 0;
  for (let chunk = 1; chunk <= chunks.readUInt32BE(4); chunk += 1) {
    const next = TABLE_HEAD + 12 * (run + 1);
    if (next < runs.length && runs.readUInt32BE(next) === chunk) run += 1;
    let place = chunks.readUInt32BE(TABLE_HEAD + 4 * (chunk - 1));
    const end = Math.min(count, places.length + runs.readUInt32BE(TABLE_HEAD + 12 * run + 4));
    while (places.length < end) {
      const size = usual || sizes.readUInt32BE(12 + 4 * places.length);
      places.push(place);
      place += size;
    }
  }
  return places;
}

/** @returns the index with its offsets moved; `undefined` if one would need more than 32 bits */
function withOffsets(index: Buffer, more: number): Buffer | undefined {
  let isTooLong = false;
  const moved = withBoxes(index, (kind, content) => {
    if (kind !== 'stco' && kind !== 'co64') return content;
    const changed = Buffer.from(content);
    for (let at = TABLE_HEAD; at < content.length; at += kind === 'stco' ? 4 : 8) {
      if (kind === 'co64') changed.writeBigUInt64BE(content.readBigUInt64BE(at) + BigInt(more), at);
      else if (content.readUInt32BE(at) + more <= MOST_OFFSET)
        changed.writeUInt32BE(content.readUInt32BE(at) + more, at);
      else isTooLong = true;
    }
    return changed;
  });
  return isTooLong ? undefined : moved;
}
