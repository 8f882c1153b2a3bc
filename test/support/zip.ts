import { crc32 as builtIn, deflateRawSync, inflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string | Buffer;
  readonly data: string | Uint8Array;
  /** A false size for the directory. */
  readonly size?: number;
  readonly isStored?: boolean;
  /** The Unix mode of the file. */
  readonly mode?: number;
  readonly flags?: number;
  /** True to point to the bytes of the previous entry instead of own ones. */
  readonly sharesBytes?: boolean;
}

const UTF8_NAME = 0x800;

/** Makes an archive that conforms to APPNOTE 6.3, except where an entry breaks it. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  let before = 0;
  for (const entry of entries) {
    const { local, central, body } = recordsOf(entry, entry.sharesBytes ? before : offset);
    directory.push(central);
    if (entry.sharesBytes) continue;
    before = offset;
    parts.push(local, body);
    offset += local.length + body.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length & 0xffff, 8);
  end.writeUInt16LE(entries.length & 0xffff, 10);
  const listing = Buffer.concat(directory);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listing, end]);
}

function recordsOf(entry: ZipEntry, offset: number) {
  const data = Buffer.from(entry.data as string);
  const name = Buffer.from(entry.name as string);
  const body = entry.isStored ? data : deflateRawSync(data);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(entry.flags ?? UTF8_NAME, 2);
  common.writeUInt16LE(entry.isStored ? 0 : 8, 4);
  common.writeUInt32LE(crc32(data), 10);
  common.writeUInt32LE(body.length, 14);
  common.writeUInt32LE(entry.size ?? data.length, 18);
  common.writeUInt16LE(name.length, 22);
  const signature = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
  rest.writeUInt32LE(offset, 10);
  return {
    local: Buffer.concat([signature(0x04034b50), common, name]),
    central: Buffer.concat([signature(0x02014b50), Buffer.from([20, 3]), common, rest, name]),
    body,
  };
}

/** Needs Node 20.15, the first with `crc32` in zlib. */
function crc32(data: Uint8Array): number {
  return builtIn(data);
}

/** Reads an intact archive, with code that is independent of the program's reader. */
export function unzipped(archive: Buffer): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [name, extra, comment] = [28, 30, 32].map((place) => archive.readUInt16LE(at + place));
    const local = archive.readUInt32LE(at + 42);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const packed = archive.subarray(start, start + archive.readUInt32LE(at + 20));
    const path = archive.toString('utf8', at + 46, at + 46 + (name ?? 0));
    files.set(path, archive.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed));
    at += 46 + (name ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  return files;
}
