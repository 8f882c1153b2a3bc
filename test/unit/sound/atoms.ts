/** A box of MP4, with those inside it. */
export interface Atom {
  readonly kind: string;
  readonly content: Buffer;
  readonly inside: readonly Atom[];
}

const HOLDERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'udta', 'edts', 'tref', 'ilst', 'dinf']);

/** Reads the boxes of an MP4, by the text of the standard. */
export function readAtoms(bytes: Buffer, holder = ''): Atom[] {
  const atoms: Atom[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    const kind = bytes.toString('latin1', at + 4, at + 8);
    if (size < 8 || at + size > bytes.length) throw new Error(`the box ${kind} is longer than what holds it`);
    const content = bytes.subarray(at + 8, at + size);
    const holds = kind === 'meta' ? content.subarray(4) : content;
    const isHolder = HOLDERS.has(kind) || kind === 'meta' || holder === 'ilst';
    atoms.push({ kind, content, inside: isHolder ? readAtoms(holds, kind) : [] });
    at += size;
  }
  return atoms;
}

/** All boxes at the end of a path. */
export function atomsAt(atoms: readonly Atom[], path: string): Atom[] {
  const [first, ...rest] = path.split('/');
  const found = atoms.filter(({ kind }) => kind === first);
  return rest.length === 0 ? found : found.flatMap(({ inside }) => atomsAt(inside, rest.join('/')));
}

/** The tags of a file: the content of each, without its type and locale. */
export function tagsOf(atoms: readonly Atom[]): Map<string, Buffer> {
  const [list] = atomsAt(atoms, 'moov/udta/meta/ilst');
  return new Map(
    (list?.inside ?? []).map(({ kind, inside }) => {
      const data = inside.find((each) => each.kind === 'data');
      return [kind, data?.content.subarray(8) ?? Buffer.alloc(0)];
    }),
  );
}

interface Marker {
  /** Seconds. */
  readonly start: number;
  readonly title: string;
}

/** The chapters that Apple reads: a track of text, and how many chunks hold their titles. */
export function chapterTrack(bytes: Buffer): { readonly marks: readonly Marker[]; readonly chunks: number } {
  const atoms = readAtoms(bytes);
  const tracks = atomsAt(atoms, 'moov/trak');
  const idOf = (track: Atom) => {
    const [head] = atomsAt(track.inside, 'tkhd');
    return head?.content.readUInt32BE(head.content[0] === 1 ? 20 : 12);
  };
  const [reference] = tracks.flatMap(({ inside }) => atomsAt(inside, 'tref/chap'));
  const track = tracks.find((each) => idOf(each) === reference?.content.readUInt32BE(0));
  if (!track) return { marks: [], chunks: 0 };
  const table = (name: string) =>
    atomsAt(track.inside, `mdia/minf/stbl/${name}`)[0]?.content ?? Buffer.alloc(8);
  const rate = atomsAt(track.inside, 'mdia/mdhd')[0]?.content.readUInt32BE(12) ?? 1;
  const durations = entries(table('stts'), 8).flatMap((at) => {
    const [count = 0, length = 0] = [table('stts').readUInt32BE(at), table('stts').readUInt32BE(at + 4)];
    return Array.from({ length: count }, () => length);
  });
  let start = 0;
  const marks = samplePlaces(table).map((at, number) => {
    const mark = {
      start: start / rate,
      title: bytes.toString('utf8', at + 2, at + 2 + bytes.readUInt16BE(at)),
    };
    start += durations[number] ?? 0;
    return mark;
  });
  return { marks, chunks: table('stco').readUInt32BE(4) };
}

function entries(content: Buffer, size: number): number[] {
  return Array.from({ length: content.readUInt32BE(4) }, (_, at) => 8 + at * size);
}

/** @returns the places in the file at which the samples of a track lie */
function samplePlaces(table: (name: string) => Buffer): number[] {
  const sizes = table('stsz');
  const usual = sizes.readUInt32BE(4);
  const sizeOf = (sample: number) => usual || sizes.readUInt32BE(12 + 4 * sample);
  const runs = entries(table('stsc'), 12).map((at) => [
    table('stsc').readUInt32BE(at),
    table('stsc').readUInt32BE(at + 4),
  ]);
  const places: number[] = [];
  for (const [number, at] of entries(table('stco'), 4).entries()) {
    const [, count = 0] = runs.findLast(([first = 0]) => first <= number + 1) ?? [];
    let place = table('stco').readUInt32BE(at);
    for (let each = 0; each < count; each += 1) {
      places.push(place);
      place += sizeOf(places.length - 1);
    }
  }
  return places;
}
