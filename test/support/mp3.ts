/** A frame of ID3v2, or one inside another. */
interface Id3Frame {
  readonly id: string;
  readonly content: Buffer;
}

/** Reads the ID3v2.3 tag at the start of an MP3. */
export function readId3(bytes: Buffer): { frames: Id3Frame[]; length: number } {
  if (bytes.toString('latin1', 0, 5) !== 'ID3\x03\0') throw new Error('no ID3v2.3');
  const size = [6, 7, 8, 9].reduce((sum, at) => {
    const byte = bytes[at] ?? 0;
    if (byte > 127) throw new Error('the size has eight bits in a byte');
    return sum * 128 + byte;
  }, 0);
  return { frames: readFrames(bytes.subarray(10, 10 + size)), length: 10 + size };
}

function readFrames(bytes: Buffer): Id3Frame[] {
  const frames: Id3Frame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const id = bytes.toString('latin1', at, at + 4);
    if (!/^[A-Z0-9]{4}$/.test(id)) throw new Error(`no frame at ${at}`);
    const size = bytes.readUInt32BE(at + 4);
    if (at + 10 + size > bytes.length) throw new Error(`the frame ${id} is longer than what holds it`);
    frames.push({ id, content: bytes.subarray(at + 10, at + 10 + size) });
    at += 10 + size;
  }
  return frames;
}

/** The text of a frame in UTF-16, without its byte order mark. */
export function textOf({ content }: Id3Frame): string {
  if (content[0] !== 1) throw new Error('not UTF-16');
  return content.toString('utf16le', 3);
}

/** The exact duration in seconds of an MPEG-2 MP3, from its Info frame with LAME's tag. */
export function secondsOf(mp3: Buffer): number {
  const at = mp3.indexOf('Info');
  const header = mp3.lastIndexOf(0xff, at);
  const rate = [22_050, 24_000, 16_000][((mp3[header + 2] ?? 0) >> 2) & 3] ?? 0;
  const padding = mp3.readUIntBE(at + 120 + 21, 3);
  return (mp3.readUInt32BE(at + 8) * 576 - (padding >> 12) - (padding & 0xfff)) / rate;
}

interface Mark {
  readonly id: string;
  readonly start: number;
  readonly end: number;
  readonly title: string | undefined;
}

/** The chapters of a tag in the order of its tables of contents, without those that no table lists. */
export function readChapters(frames: readonly Id3Frame[]): Mark[] {
  const named = (kind: string) =>
    new Map(
      frames
        .filter(({ id }) => id === kind)
        .map(({ content }) => {
          const end = content.indexOf(0);
          return [content.toString('latin1', 0, end), content.subarray(end + 1)] as const;
        }),
    );
  const [marks, tables] = [named('CHAP'), named('CTOC')];
  const [top, ...others] = [...tables].filter(([, content]) => ((content[0] ?? 0) & 2) !== 0);
  if (!top || others.length > 0) throw new Error(`${others.length + 1} tables of contents are at the top`);
  const below = (id: string): Mark[] => {
    const mark = marks.get(id);
    if (mark) {
      const title = readFrames(mark.subarray(16)).find((frame) => frame.id === 'TIT2');
      return [{ id, start: mark.readUInt32BE(0), end: mark.readUInt32BE(4), title: title && textOf(title) }];
    }
    const table = tables.get(id);
    if (!table) throw new Error(`there is no ${id}`);
    const entries = table.toString('latin1', 2).split('\0').slice(0, -1);
    if (entries.length !== table[1]) throw new Error(`${id} counts ${table[1]} of ${entries.length} entries`);
    return entries.flatMap(below);
  };
  return below(top[0]);
}
